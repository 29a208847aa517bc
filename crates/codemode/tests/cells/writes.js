await tools.echo_w({a: 1}); await tools.echo({}); return 1
/*---
exec -> {"status":"completed","value":1,"effects":{"committed":2,"failed":0,"unknown":0,"notStarted":0,"calls":[{"id":"c1","tool":"openclaw:core:echo_w","state":"committed","effect":"write"},{"id":"c2","tool":"openclaw:core:echo","state":"committed","effect":"read"}]}}
---*/
