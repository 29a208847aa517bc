//## flood
//# expect: completed
//# options: {"timeoutMs": 20000}
//# value: 1
for (let i = 0; i < 200000; i++) console.log('line', i); return 1
//## one-huge-line
//# expect: completed or failed memory_limit_exceeded
console.log('x'.repeat(2e7)); return 1
//## deep-objects
//# expect: completed or failed memory_limit_exceeded guest_deadline stack_overflow
//# options: {"timeoutMs": 5000}
let a = {}; for (let i = 0; i < 50000; i++) a = {a}; for (let i = 0; i < 20; i++) console.log(a); return 1
//## cycles-and-getters
//# expect: completed or failed guest_error
//# value: 1
const a = {get b() { throw 1 }}; a.a = a; console.log(a, [a], new Map([[a, a]]), new Proxy({}, {ownKeys() { throw 1 }}), Symbol('x'), 10n, () => 1); return 1
