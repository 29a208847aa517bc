const order = [];
const a = tools.hold({key: "a"}).then(x => (order.push("a"), x));
const b = tools.hold({key: "b"}).then(x => (order.push("b"), x));
await yield_control();
const first = await Promise.race([a, b]);
await Promise.all([a, b]);
return {first, order}
/*---
exec -> 
release b
called hold b done
release a
called hold a done
wait -> 
---*/
