//## parse-fifty-megabytes
//# expect: failed guest_deadline memory_limit_exceeded
//# options: {"timeoutMs": 150}
const s = '[' + '1,'.repeat(25000000) + '1]'; return JSON.parse(s).length
//## parse-strings
//# expect: failed guest_deadline memory_limit_exceeded
//# options: {"timeoutMs": 150}
const s = '"' + 'x'.repeat(10000000) + '"'; for (;;) JSON.parse(s)
//## parse-brackets
//# expect: completed or failed guest_deadline memory_limit_exceeded guest_error stack_overflow
//# options: {"timeoutMs": 150}
return JSON.parse('['.repeat(1000000))
//## print-loop
//# expect: failed guest_deadline memory_limit_exceeded
//# options: {"timeoutMs": 150}
const o = Array.from({length: 50000}, (_, i) => ({i, s: 'x'.repeat(20)})); for (;;) JSON.stringify(o)
//## print-with-indent
//# expect: completed or failed guest_deadline memory_limit_exceeded guest_error stack_overflow
//# options: {"timeoutMs": 150}
let o = {}; let a = o; for (let i = 0; i < 3000; i++) a = a.a = {}; for (;;) JSON.stringify(o, null, 10)
//## reviver
//# expect: failed guest_deadline
//# options: {"timeoutMs": 150}
const s = JSON.stringify(Array(100000).fill(1)); for (;;) JSON.parse(s, (k, v) => v)
//## replacer-that-grows
//# expect: completed or failed guest_deadline memory_limit_exceeded guest_error stack_overflow
//# options: {"timeoutMs": 150}
return JSON.stringify({a: 1}, (k, v) => typeof v === 'object' || k ? {a: 1} : v)
//## shared-references
//# expect: failed guest_deadline memory_limit_exceeded
//# options: {"timeoutMs": 150}
let a = ['x']; for (let i = 0; i < 40; i++) a = [a, a]; return JSON.stringify(a).length
//## raw-json-loop
//# expect: failed guest_deadline memory_limit_exceeded
//# options: {"timeoutMs": 150}
const o = {}; for (let i = 0; i < 30000; i++) o['k' + i] = {}; for (;;) JSON.parse(JSON.stringify(o))
