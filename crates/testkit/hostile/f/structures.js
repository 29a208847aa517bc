//## arrays
//# expect: failed memory_limit_exceeded
//# options: {"timeoutMs": 8000, "memoryLimitBytes": 16777216}
const a = []; for (;;) a.push([])
//## maps
//# expect: failed memory_limit_exceeded
//# options: {"timeoutMs": 8000, "memoryLimitBytes": 16777216}
const m = new Map(); for (let i = 0;; i++) m.set(i, {i})
//## closures
//# expect: failed memory_limit_exceeded
//# options: {"timeoutMs": 8000, "memoryLimitBytes": 16777216}
let f = () => 1; for (;;) { const g = f; f = () => g }
//## array-of-holes
//# expect: completed or failed memory_limit_exceeded guest_deadline
//# options: {"timeoutMs": 8000, "memoryLimitBytes": 16777216}
const a = []; a[2 ** 32 - 2] = 1; a.length = 2 ** 32 - 1; return a.length
//## classes
//# expect: failed memory_limit_exceeded
//# options: {"timeoutMs": 8000, "memoryLimitBytes": 16777216}
const a = []; for (;;) a.push(class { x = 1; static y = 2; m() {} })
//## generators
//# expect: failed memory_limit_exceeded
//# options: {"timeoutMs": 8000, "memoryLimitBytes": 16777216}
function* g() { yield 1 } const a = []; for (;;) { const i = g(); i.next(); a.push(i) }
//## errors-with-stacks
//# expect: failed memory_limit_exceeded
//# options: {"timeoutMs": 8000, "memoryLimitBytes": 16777216}
const a = []; for (;;) a.push(new Error("x"))
//## bigints
//# expect: failed memory_limit_exceeded
//# options: {"timeoutMs": 8000, "memoryLimitBytes": 16777216}
const a = []; for (;;) a.push(1n << 100000n)
//## regexps
//# expect: failed memory_limit_exceeded
//# options: {"timeoutMs": 8000, "memoryLimitBytes": 16777216}
const a = []; for (let i = 0;; i++) a.push(new RegExp('a{1,100}'.repeat(20) + i))
//## array-concat
//# expect: completed or failed memory_limit_exceeded guest_deadline
//# options: {"timeoutMs": 8000, "memoryLimitBytes": 16777216}
let a = [1]; try { for (;;) a = a.concat(a) } catch (e) { return true }
//## weak-things
//# expect: failed memory_limit_exceeded
//# options: {"timeoutMs": 8000, "memoryLimitBytes": 16777216}
const w = new WeakMap(), a = []; for (;;) { const k = {}; a.push(k, new WeakRef(k)); w.set(k, new Uint8Array(1000)) }
