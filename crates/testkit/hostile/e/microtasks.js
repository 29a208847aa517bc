//## await-null
//# expect: failed guest_deadline
//# options: {"timeoutMs": 150}
for (;;) await null
//## then-chain
//# expect: failed guest_deadline
//# options: {"timeoutMs": 150}
const f = () => Promise.resolve().then(f); await f(); await new Promise(() => {}); 
//## many-chains
//# expect: failed guest_deadline
//# options: {"timeoutMs": 150}
const f = () => { Promise.resolve().then(f) }; for (let i = 0; i < 100; i++) f(); await new Promise(() => {})
//## async-generator
//# expect: failed guest_deadline
//# options: {"timeoutMs": 150}
async function* g() { for (;;) yield 1 } for await (const x of g()) {}
//## thenables
//# expect: failed guest_deadline
//# options: {"timeoutMs": 150}
const t = {then(r) { r(t) }}; await t
//## detached
//# expect: failed guest_deadline
//# options: {"timeoutMs": 150}
(async () => { for (;;) await 0 })(); return 1
//## rejections
//# expect: failed guest_deadline
//# options: {"timeoutMs": 150}
for (;;) { try { await Promise.reject(1) } catch {} }
//## promise-any
//# expect: failed guest_deadline
//# options: {"timeoutMs": 150}
for (;;) await Promise.any([Promise.reject(1), Promise.resolve(2)])
