//## mapped-and-deleted
//# expect: completed or failed guest_error memory_limit_exceeded guest_deadline stack_overflow
//# options: {"timeoutMs": 3000}
//# value: [true,7,7]
function f(a, b) { delete arguments[0]; a = 5; Object.defineProperty(arguments, '1', {get() { return b = 7 }}); arguments.length = 1e6; return [arguments[0] === undefined, arguments[1], b] } return f(1, 2)
//## kept-after-the-call
//# expect: completed or failed guest_error memory_limit_exceeded guest_deadline stack_overflow
//# options: {"timeoutMs": 3000}
let kept; function f(a) { kept = arguments; return () => a } const g = f({x: 1}); kept[0] = 'changed'; kept.length = 0; Array.prototype.push.call(kept, 1, 2, 3); return [g(), kept.length]
//## in-a-generator
//# expect: completed or failed guest_error memory_limit_exceeded guest_deadline stack_overflow
//# options: {"timeoutMs": 3000}
function* f(a) { yield arguments; arguments[0] = 9; yield a; arguments = null; yield a } const g = f(1), first = g.next().value; first[0] = 5; return [g.next().value, g.next().value]
//## frozen-and-spread
//# expect: completed or failed guest_error memory_limit_exceeded guest_deadline stack_overflow
//# options: {"timeoutMs": 3000}
function f(a) { Object.freeze(arguments); try { a = 2 } catch {} return [...arguments, a] } return f(1)
//## as-a-prototype
//# expect: completed or failed guest_error memory_limit_exceeded guest_deadline stack_overflow
//# options: {"timeoutMs": 3000}
function f() { return arguments } const o = Object.create(f(1, 2, 3)); o[0] = 9; o.length = 2 ** 32; return [].slice.call({length: 3, __proto__: f(1, 2, 3)})
