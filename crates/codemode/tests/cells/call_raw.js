return await tools.callRaw("echo", {a: 1})
/*---
exec -> {"status":"completed","value":{"tool":{"id":"openclaw:core:echo","name":"echo","description":"The fake tool echo.","source":"openclaw"},"result":{"content":[],"details":{"a":1}}}}
---*/
