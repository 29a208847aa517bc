async () => { return (await tools.echo({v: 3})).v }
/*---
exec -> {"status":"completed","value":3}
---*/
