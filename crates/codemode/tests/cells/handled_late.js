const p = tools.fail({});
await tools.echo({}); await tools.echo({});
p.catch(() => text("caught late"));
return 1
/*---
exec -> {"status":"completed","value":1,"output":[{"type":"text","text":"caught late"}]}
---*/
