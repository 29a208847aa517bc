tools.echo_w({detached: true}).then(() => text("it ended"));
return "returned"
/*---
exec -> 
---*/
