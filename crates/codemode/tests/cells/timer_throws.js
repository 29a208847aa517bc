setTimeout(() => {
  throw new Error("late");
}, 1);
await tools.echo({});
await new Promise((done) => setTimeout(done, 5));
return 1;
/*---
exec -> {"status":"failed","error":"a function given to setTimeout threw: Error: late (line 2, column 13). Catch it there: nothing else can","code":"internal_error","failure":{"kind":"guest_error","phase":"guest","line":2,"column":13,"frame":"2 |   throw new Error(\"late\");\n  |             ^"}}
---*/
