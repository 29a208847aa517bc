const a = tools.hold({key: "a"}), b = tools.hold({key: "b"});
const race = Promise.race([a, b]);
await yield_control();
return [await race, await Promise.all([a, b])]
/*---
exec -> {"status":"waiting","runId":"<id>","seq":1,"reason":"yield","pendingToolCalls":[{"id":"c1","method":"tools.call","tool":"openclaw:core:hold","elapsedMs":0,"state":"running"},{"id":"c2","method":"tools.call","tool":"openclaw:core:hold","elapsedMs":0,"state":"running"}]}
release b
called hold b done
release a
called hold a done
wait -> {"status":"completed","value":[{"key":"b"},[{"key":"a"},{"key":"b"}]]}
---*/
