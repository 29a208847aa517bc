return await tools.call("openclaw:core:exec", {command: "ls"})
/*---
exec -> 
---*/
