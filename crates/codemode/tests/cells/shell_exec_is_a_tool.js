return await tools.call("openclaw:core:exec", {command: "ls"})
/*---
exec -> {"status":"completed","value":{"command":"ls"},"effects":{"committed":1,"failed":0,"unknown":0,"notStarted":0,"calls":[{"id":"c1","tool":"openclaw:core:exec","state":"committed","effect":"write"}]}}
---*/
