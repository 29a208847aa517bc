return [await tools.call("openclaw:core:echo", {a: 1}), await tools.call("echo", {b: 2})]
/*---
exec -> {"status":"completed","value":[{"a":1},{"b":2}]}
---*/
