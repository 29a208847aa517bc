//## prototype-cycle
//# expect: completed or failed guest_deadline memory_limit_exceeded guest_error stack_overflow
//# options: {"timeoutMs": 150}
const p = new Proxy({}, {getPrototypeOf: () => p, get: (t, k, r) => Reflect.get(Object.create(p), k, r)}); return p.x
//## wrapped-100000-times
//# expect: completed or failed guest_deadline memory_limit_exceeded guest_error stack_overflow
//# options: {"timeoutMs": 150}
let p = {}; for (let i = 0; i < 100000; i++) p = new Proxy(p, {}); return p.x
//## own-keys-endless
//# expect: failed guest_deadline
//# options: {"timeoutMs": 150}
return Object.keys(new Proxy({}, {ownKeys: () => { for (;;) {} }}))
//## has-in-with
//# expect: failed guest_deadline
//# options: {"timeoutMs": 150}
with (new Proxy({}, {has: () => { for (;;) {} }})) { x }
//## length-grows
//# expect: completed or failed guest_deadline memory_limit_exceeded guest_error stack_overflow
//# options: {"timeoutMs": 150}
const p = new Proxy([], {get: (t, k) => k === 'length' ? 2 ** 53 - 1 : 1, has: () => true}); return Array.prototype.indexOf.call(p, 2)
//## instanceof
//# expect: completed or failed guest_deadline memory_limit_exceeded guest_error stack_overflow
//# options: {"timeoutMs": 150}
return 1 instanceof new Proxy(function () {}, {get: () => { for (;;) {} }})
//## next-forever
//# expect: failed guest_deadline
//# options: {"timeoutMs": 150}
const it = new Proxy({}, {get: (t, k) => k === 'next' ? () => ({done: false, value: 1}) : undefined}); for (const x of {[Symbol.iterator]: () => it}) {}
//## returned-as-value
//# expect: completed or failed guest_deadline output_limit_exceeded memory_limit_exceeded
//# options: {"timeoutMs": 150}
return new Proxy({}, {ownKeys: () => Array.from({length: 1e6}, (_, i) => 'k' + i), getOwnPropertyDescriptor: () => ({value: 1, enumerable: true, configurable: true}), get: () => 1})
