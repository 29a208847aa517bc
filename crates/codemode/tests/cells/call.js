return await tools.echo({a: 1})
/*---
exec -> {"status":"completed","value":{"a":1}}
---*/
