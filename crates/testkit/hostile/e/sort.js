//## inconsistent
//# expect: failed guest_deadline memory_limit_exceeded
//# options: {"timeoutMs": 150}
const a = Array.from({length: 1e6}, (_, i) => i); for (;;) a.sort(() => Math.random() - 0.5)
//## always-less
//# expect: failed guest_deadline memory_limit_exceeded
//# options: {"timeoutMs": 150}
for (;;) Array.from({length: 1e5}, (_, i) => i).sort(() => -1)
//## never-returns
//# expect: failed guest_deadline
//# options: {"timeoutMs": 150}
[1, 2, 3].sort(() => { for (;;) {} })
//## changes-what-it-sorts
//# expect: completed or failed guest_deadline memory_limit_exceeded guest_error stack_overflow
//# options: {"timeoutMs": 150}
const a = Array.from({length: 1000}, (_, i) => i); for (;;) a.sort(() => { a.length = Math.random() * 1000; a.push(1); return Math.random() - 0.5 })
//## typed
//# expect: failed guest_deadline memory_limit_exceeded
//# options: {"timeoutMs": 150}
const a = new Float64Array(2e6).map(Math.random); for (;;) a.sort()
//## strings
//# expect: failed guest_deadline memory_limit_exceeded
//# options: {"timeoutMs": 150}
for (;;) Array.from({length: 1e5}, () => 'x'.repeat(50) + Math.random()).sort()
//## to-sorted-nan
//# expect: failed guest_deadline memory_limit_exceeded
//# options: {"timeoutMs": 150}
for (;;) Array(1e6).fill(1).toSorted(() => NaN)
