//## doubling
//# expect: completed or failed memory_limit_exceeded
//# options: {"timeoutMs": 8000, "memoryLimitBytes": 16777216}
let s = 'x'; try { for (;;) s += s } catch (e) { return s.length < 2 ** 31 }
//## distinct
//# expect: failed memory_limit_exceeded
//# options: {"timeoutMs": 8000, "memoryLimitBytes": 16777216}
const a = []; for (;;) a.push('x'.repeat(1e5) + a.length)
//## rope
//# expect: completed or failed memory_limit_exceeded guest_deadline
//# options: {"timeoutMs": 8000, "memoryLimitBytes": 16777216}
let s = ''; for (let i = 0; i < 3e6; i++) s = s + 'abc' + i; return s.length
//## flattened-rope
//# expect: completed or failed memory_limit_exceeded guest_deadline stack_overflow
//# options: {"timeoutMs": 8000, "memoryLimitBytes": 16777216}
let s = 'a'; for (let i = 0; i < 200000; i++) s = 'b' + s + 'c'; return s.charCodeAt(100)
//## repeat-limit
//# expect: completed
//# options: {"timeoutMs": 8000, "memoryLimitBytes": 16777216}
//# value: ["refused"]
const seen = new Set(); for (const n of [2 ** 28, 2 ** 29, 2 ** 30, 2 ** 31, Infinity]) try { 'ab'.repeat(n); seen.add('made') } catch (e) { seen.add('refused') } return [...seen]
//## symbols-and-atoms
//# expect: failed memory_limit_exceeded
//# options: {"timeoutMs": 8000, "memoryLimitBytes": 16777216}
const o = {}; for (let i = 0;; i++) o['key number ' + i] = Symbol.for('name ' + i)
