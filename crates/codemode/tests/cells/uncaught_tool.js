await tools.echo_w({a: 1});
await tools.fail_w({});
/*---
exec -> 
---*/
