const x = null;
await tools.echo({});
return x.y
/*---
exec -> {"status":"failed","error":"TypeError: cannot read property 'y' of null (line 3, column 8)","code":"internal_error","failure":{"kind":"guest_error","phase":"guest","line":3,"column":8,"frame":"3 | return x.y\n  |        ^"}}
---*/
