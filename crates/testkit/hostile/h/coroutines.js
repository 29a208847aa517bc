//## collected-while-suspended
//# expect: completed or failed guest_error memory_limit_exceeded guest_deadline stack_overflow
//# options: {"timeoutMs": 3000}
//# value: true
const make = () => { let resolve; const held = {big: new Uint8Array(1 << 16)}; const f = async () => { try { await new Promise(r => resolve = r); return held } finally { held.done = true } }; f(); return new WeakRef(() => resolve) }; const refs = []; for (let i = 0; i < 500; i++) refs.push(make()); for (let i = 0; i < 20; i++) 'x'.repeat(1e5).split('x'); await null; return refs.filter(r => r.deref()).length <= 500
//## generators-in-a-cycle
//# expect: completed or failed guest_error memory_limit_exceeded guest_deadline stack_overflow
//# options: {"timeoutMs": 3000}
//# value: "collected"
for (let i = 0; i < 5000; i++) { let g; const o = {}; function* f() { try { o.g = g; yield o; yield 1 } finally { o.closed = true; delete o.g } } g = f(); g.next() } for (let i = 0; i < 20; i++) 'x'.repeat(1e5).split('x'); return 'collected'
//## async-generator-reachable-from-its-closure
//# expect: completed or failed guest_error memory_limit_exceeded guest_deadline stack_overflow
//# options: {"timeoutMs": 3000}
//# value: "collected"
for (let i = 0; i < 3000; i++) { const o = {}; o.it = (async function* () { yield () => o; await new Promise(() => {}); yield o })(); o.p = o.it.next() } await null; for (let i = 0; i < 20; i++) 'x'.repeat(1e5).split('x'); return 'collected'
//## kept-across-a-suspension
//# expect: completed or failed guest_error memory_limit_exceeded guest_deadline stack_overflow
//# options: {"timeoutMs": 3000}
//# value: true
const gs = Array.from({length: 300}, (_, i) => { const g = (function* () { const big = 'x'.repeat(100) + i; yield; yield big.length })(); g.next(); return g }); await yield_control(); let n = 0; for (const g of gs.splice(0, 150)) n += g.next().value; await yield_control(); return n > 0
//## resolved-after-collection
//# expect: completed or failed guest_error memory_limit_exceeded guest_deadline stack_overflow
//# options: {"timeoutMs": 3000}
//# value: "fine"
let late; (() => { const f = async () => { await new Promise(r => late = r); text('late') }; f() })(); for (let i = 0; i < 20; i++) 'x'.repeat(1e5).split('x'); late(); await null; await null; return 'fine'
//## return-during-yield-star
//# expect: completed or failed guest_error memory_limit_exceeded guest_deadline stack_overflow
//# options: {"timeoutMs": 3000}
const seen = []; const inner = {[Symbol.iterator]() { return this }, next: () => ({value: 1}), return() { seen.push('r'); g.next?.(); return {} }}; let g = (function* () { yield* inner })(); g.next(); try { g.return(5) } catch (e) { seen.push(e.name) } return seen
