const order = [];
const note = (name, p) => p.then(() => order.push(name), e => order.push(name + ":" + e.message));
const a = note("a", tools.hold({key: "a", fail: "x"})), b = note("b", tools.hold({key: "b", fail: "y"}));
await yield_control();
await Promise.allSettled([a, b]);
return order
/*---
exec -> {"status":"waiting","runId":"<id>","seq":1,"reason":"yield","pendingToolCalls":[{"id":"c1","method":"tools.call","tool":"openclaw:core:hold","elapsedMs":0,"state":"running"},{"id":"c2","method":"tools.call","tool":"openclaw:core:hold","elapsedMs":0,"state":"running"}]}
release b
called hold b done
release a
called hold a done
wait -> {"status":"completed","value":["b:y","a:x"]}
---*/
