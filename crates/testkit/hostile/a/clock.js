//## utc-whatever-the-host-says
//# expect: completed
//# value: [0,true,"1970-01-01T00:00:00.000Z"]
const d = new Date(0);
return [d.getTimezoneOffset(), /UTC|GMT/.test(String(d)) && !/[+-]0[1-9]/.test(String(d)), d.toISOString()]
//## time-goes-forward-and-slowly
//# expect: completed
//# value: [true,true]
const a = performance.now(); let b = a; for (let i = 0; i < 1e5; i++) b = performance.now();
return [b > a, b - a < 1000]
//## no-timer-to-measure-others-with
//# expect: completed
//# value: true
const start = performance.now(); for (let i = 0; i < 3e5; i++) { Math.sqrt(i) } const spent = performance.now() - start;
return spent < 1
//## random-comes-from-the-leg
//# expect: completed
//# value: [true,true]
const many = Array.from({length: 1000}, Math.random);
return [new Set(many).size === 1000, many.every(n => n >= 0 && n < 1)]
//## uuids-are-uuids
//# expect: completed
//# value: true
return Array.from({length: 100}, () => crypto.randomUUID()).every(u => /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/.test(u))
