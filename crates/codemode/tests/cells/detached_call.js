tools.echo_w({detached: true}).then(() => text("it ended"));
return "returned"
/*---
exec -> {"status":"completed","value":"returned","output":[{"type":"text","text":"it ended"}],"effects":{"committed":1,"failed":0,"unknown":0,"notStarted":0,"calls":[{"id":"c1","tool":"openclaw:core:echo_w","state":"committed","effect":"write"}]}}
---*/
