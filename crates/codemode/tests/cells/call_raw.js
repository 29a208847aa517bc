return await tools.callRaw("echo", {a: 1})
/*---
exec -> 
---*/
