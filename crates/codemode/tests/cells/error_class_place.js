class Broken extends Error {
  constructor(message) {
    super(message);
    this.name = "Broken";
  }
}
class Worse extends Broken {}
function fail() {
  throw new Worse("no");
}
fail();
/*---
exec -> {"status":"failed","error":"Broken: no (line 9, column 13)","code":"internal_error","failure":{"kind":"guest_error","phase":"guest","line":9,"column":13,"frame":"9 |   throw new Worse(\"no\");\n  |             ^"}}
---*/
