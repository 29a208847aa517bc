async () => { return (await tools.echo({v: 3})).v }
/*---
exec -> 
---*/
