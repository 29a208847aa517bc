const x = null;
await tools.echo({});
return x.y
/*---
exec -> 
---*/
