//## registry-that-keeps-itself
//# expect: completed or failed guest_error memory_limit_exceeded guest_deadline stack_overflow
//# options: {"timeoutMs": 3000}
//# value: true
let n = 0; const r = new FinalizationRegistry(h => { n++; r.register({}, h) }); for (let i = 0; i < 50000; i++) r.register({i}, i, {}); await new Promise(f => setTimeout(f, 1)); return n >= 0
//## weak-refs-through-garbage
//# expect: completed or failed guest_error memory_limit_exceeded guest_deadline stack_overflow
//# options: {"timeoutMs": 3000}
//# value: true
const refs = []; for (let i = 0; i < 50000; i++) { let a = {}, b = {a}; a.b = b; refs.push(new WeakRef(a)) } for (let i = 0; i < 50; i++) 'x'.repeat(1e5).split('x'); await null; let alive = 0; for (const r of refs) if (r.deref()?.b?.a) alive++; return alive <= 50000
//## weak-map-key-as-its-own-value
//# expect: completed or failed guest_error memory_limit_exceeded guest_deadline stack_overflow
//# options: {"timeoutMs": 3000}
//# value: "kept nothing"
const w = new WeakMap(); for (let i = 0; i < 50000; i++) { const k = {}; w.set(k, {k, w, next: () => k}) } return 'kept nothing'
//## unregister-inside
//# expect: completed or failed guest_error memory_limit_exceeded guest_deadline stack_overflow
//# options: {"timeoutMs": 3000}
const t = {}; const r = new FinalizationRegistry(() => { r.unregister(t); r.unregister(t) }); for (let i = 0; i < 1000; i++) r.register({}, 1, t); r.unregister(t); await null; return 1
//## symbols-as-weak-keys
//# expect: completed or failed guest_error memory_limit_exceeded guest_deadline stack_overflow
//# options: {"timeoutMs": 3000}
const w = new WeakMap(), s = new WeakSet(); try { w.set(Symbol('x'), 1); s.add(Symbol.iterator); } catch (e) {} try { w.set(Symbol.for('x'), 1); return 'taken' } catch (e) { return e.name }
//## held-value-is-the-target
//# expect: completed or failed guest_error memory_limit_exceeded guest_deadline stack_overflow
//# options: {"timeoutMs": 3000}
//# value: "TypeError"
const r = new FinalizationRegistry(() => {}); const o = {}; try { r.register(o, o); return 'taken' } catch (e) { return e.name }
