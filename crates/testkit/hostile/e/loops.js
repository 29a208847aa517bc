//## while
//# expect: failed guest_deadline
//# options: {"timeoutMs": 150}
while (true) {}
//## for-with-body
//# expect: failed guest_deadline
//# options: {"timeoutMs": 150}
let n = 0; for (;;) n = (n + 1) | 0
//## do-continue
//# expect: failed guest_deadline
//# options: {"timeoutMs": 150}
do { continue } while (1)
//## labelled
//# expect: failed guest_deadline
//# options: {"timeoutMs": 150}
a: for (;;) { for (;;) continue a }
//## generator
//# expect: failed guest_deadline
//# options: {"timeoutMs": 150}
function* g() { for (;;) yield 1 } for (const x of g()) {}
//## try-finally
//# expect: failed guest_deadline
//# options: {"timeoutMs": 150}
for (;;) { try { throw 1 } catch {} finally { continue } }
//## finally-loops
//# expect: failed guest_deadline
//# options: {"timeoutMs": 150}
try { while (true) {} } finally { while (true) {} }
//## for-in-that-grows
//# expect: failed guest_deadline
//# options: {"timeoutMs": 150}
const o = {a: 1}; let n = 0; for (;;) { for (const k in o) { o["k" + (n++ % 50)] = 1 } }
//## switch-in-a-loop
//# expect: failed guest_deadline
//# options: {"timeoutMs": 150}
for (let i = 0;; i++) switch (i & 3) { case 0: continue; default: break }
//## class-static-block
//# expect: failed guest_deadline
//# options: {"timeoutMs": 150}
class A { static { for (;;) {} } }
//## default-parameter
//# expect: failed guest_deadline
//# options: {"timeoutMs": 150}
(function (a = (() => { for (;;) {} })()) {})()
//## destructuring
//# expect: failed guest_deadline
//# options: {"timeoutMs": 150}
const [a] = {[Symbol.iterator]() { for (;;) {} }}
