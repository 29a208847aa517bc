try { await tools.panic_w({}) } catch (e) { return [e.code, e.effectStatus] }
/*---
exec -> {"status":"completed","value":["tool_crashed","unknown"],"effects":{"committed":0,"failed":0,"unknown":1,"notStarted":0,"calls":[{"id":"c1","tool":"openclaw:core:panic_w","state":"unknown","effect":"write"}]}}
---*/
