Promise.reject(new Error("nobody cares"));
await tools.echo({});
return 1
/*---
exec -> 
---*/
