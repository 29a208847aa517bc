Promise.reject(new Error("nobody cares"));
await tools.echo({});
return 1
/*---
exec -> {"status":"failed","error":"a rejected promise was left without a handler: Error: nobody cares (line 1, column 20). Await it, or add .catch","code":"internal_error","failure":{"kind":"guest_error","phase":"guest","line":1,"column":20,"frame":"1 | Promise.reject(new Error(\"nobody cares\"));\n  |                    ^"}}
---*/
