const order = [];
const a = tools.hold({key: "a"}).then(x => (order.push("a"), x));
const b = tools.hold({key: "b"}).then(x => (order.push("b"), x));
await yield_control();
const first = await Promise.race([a, b]);
await Promise.all([a, b]);
return {first, order}
/*---
exec -> {"status":"waiting","runId":"<id>","seq":1,"reason":"yield","pendingToolCalls":[{"id":"c1","method":"tools.call","tool":"openclaw:core:hold","elapsedMs":0,"state":"running"},{"id":"c2","method":"tools.call","tool":"openclaw:core:hold","elapsedMs":0,"state":"running"}]}
release b
called hold b done
release a
called hold a done
wait -> {"status":"completed","value":{"first":{"key":"a"},"order":["b","a"]}}
---*/
