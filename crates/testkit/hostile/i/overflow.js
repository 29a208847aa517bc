//## in-promise-all
//# expect: failed too_many_pending_tool_calls
//# options: {"timeoutMs": 20000}
await Promise.all(Array.from({length: 17000}, (_, i) => tools.note_w({i})))
//## caught-and-none-made
//# expect: completed
//# options: {"timeoutMs": 20000}
//# value: "too_many_pending_tool_calls"
try { await Promise.all(Array.from({length: 17000}, (_, i) => tools.note_w({i}))) } catch (e) { return e.code }
//## by-arguments
//# expect: completed or failed too_many_pending_tool_calls
//# options: {"timeoutMs": 20000, "memoryLimitBytes": 33554432}
const s = 'x'.repeat(1e6); const r = await Promise.allSettled(Array.from({length: 40}, () => tools.echo({s}))); return r.filter(x => x.status === 'rejected').length > 0
//## in-batches
//# expect: completed
//# options: {"timeoutMs": 30000}
//# value: 1000
let n = 0; for (let b = 0; b < 10; b++) { await Promise.all(Array.from({length: 100}, (_, i) => tools.echo({i}))); n += 100 } return n
