//## pending-promises
//# expect: completed or failed memory_limit_exceeded
const a = []; for (let i = 0; i < 100000; i++) a.push(new Promise(() => {})); return a.length
//## chains
//# expect: completed or failed memory_limit_exceeded guest_deadline
let p = Promise.resolve(0); for (let i = 0; i < 100000; i++) p = p.then(x => x + 1); return await p
//## awaiting-functions
//# expect: failed deadlock memory_limit_exceeded
const f = async () => await new Promise(() => {}); for (let i = 0; i < 100000; i++) f(); await new Promise(() => {})
//## calls-100000
//# expect: completed or failed too_many_pending_tool_calls nested_tool_failed guest_error memory_limit_exceeded
//# options: {"timeoutMs": 30000}
const r = await Promise.allSettled(Array.from({length: 100000}, (_, i) => tools.echo({i}))); return r.filter(x => x.status === 'rejected').length
//## timers
//# expect: completed
//# value: ["RangeError",1024]
let n = 0; try { for (;; n++) setTimeout(() => {}, 1e9) } catch (e) { return [e.name, n] }
