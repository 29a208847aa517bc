const order = [];
const note = (name, p) => p.then(() => order.push(name), e => order.push(name + ":" + e.message));
const a = note("a", tools.hold({key: "a", fail: "x"})), b = note("b", tools.hold({key: "b", fail: "y"}));
await yield_control();
await Promise.allSettled([a, b]);
return order
/*---
exec -> 
release b
called hold b done
release a
called hold a done
wait -> 
---*/
