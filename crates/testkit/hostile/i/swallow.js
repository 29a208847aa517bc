//## finally-continues
//# expect: failed guest_deadline
//# options: {"timeoutMs": 300}
for (;;) { try { for (;;) {} } finally { continue } }
//## catch-continues
//# expect: failed guest_deadline
//# options: {"timeoutMs": 300}
for (;;) { try { for (;;) {} } catch {} }
//## async-finally
//# expect: failed guest_deadline
//# options: {"timeoutMs": 300}
const f = async () => { try { for (;;) {} } finally { await tools.note_w({after: 1}); f() } }; await f()
//## call-in-catch
//# expect: failed guest_deadline
//# options: {"timeoutMs": 300}
try { for (;;) {} } catch { tools.note_w({after: 1}); return 'survived' }
//## dispose
//# expect: failed guest_deadline
//# options: {"timeoutMs": 300}
using x = {[Symbol.dispose]() { tools.note_w({after: 1}); for (;;) {} }}; for (;;) {}
//## generator-return
//# expect: failed guest_deadline
//# options: {"timeoutMs": 300}
function* g() { try { yield 1; for (;;) {} } finally { yield* g() } } for (const x of g()) {}
//## promise-finally
//# expect: failed guest_deadline
//# options: {"timeoutMs": 300}
await Promise.resolve().then(() => { for (;;) {} }).finally(() => { tools.note_w({after: 1}) })
