const p = tools.hold({key: "a"});
await yield_control("started");
return await p
/*---
exec -> {"status":"waiting","runId":"<id>","seq":1,"reason":"yield","pendingToolCalls":[{"id":"c1","method":"tools.call","tool":"openclaw:core:hold","elapsedMs":0,"state":"running"}]}
called hold a
release a
called hold a done
wait -> {"status":"completed","value":{"key":"a"}}
---*/
