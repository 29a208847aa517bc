return [await tools.call("openclaw:core:echo", {a: 1}), await tools.call("echo", {b: 2})]
/*---
exec -> 
---*/
