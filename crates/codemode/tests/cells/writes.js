await tools.echo_w({a: 1}); await tools.echo({}); return 1
/*---
exec -> 
---*/
