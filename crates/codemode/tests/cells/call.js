return await tools.echo({a: 1})
/*---
exec -> 
---*/
