//## in-a-then
//# expect: completed or failed memory_limit_exceeded
//# options: {"timeoutMs": 8000, "memoryLimitBytes": 16777216}
await new Promise(r => r()).then(() => { const a = []; for (;;) a.push(new Uint8Array(1 << 20)) })
//## in-an-executor
//# expect: failed memory_limit_exceeded
//# options: {"timeoutMs": 8000, "memoryLimitBytes": 16777216}
await new Promise((resolve, reject) => { const a = []; for (;;) a.push('x'.repeat(1e5) + a.length) })
//## while-throwing
//# expect: completed or failed memory_limit_exceeded guest_error
//# options: {"timeoutMs": 8000, "memoryLimitBytes": 16777216}
const kept = []; try { for (;;) kept.push(new ArrayBuffer(64)) } catch {} throw new Error('x'.repeat(1e6))
//## in-a-thenable
//# expect: failed memory_limit_exceeded
//# options: {"timeoutMs": 8000, "memoryLimitBytes": 16777216}
await {then(r) { const a = []; for (;;) a.push([a]) }}
//## in-a-reply
//# expect: completed or failed memory_limit_exceeded nested_tool_failed
//# options: {"timeoutMs": 8000, "memoryLimitBytes": 16777216}
const kept = []; const p = tools.big({bytes: 3e6}); try { for (;;) kept.push(new ArrayBuffer(4096)) } catch {} try { return (await p).length } catch (e) { kept.length = 0; return e.code ?? e.name }
//## in-a-trap-of-the-result
//# expect: failed memory_limit_exceeded
//# options: {"timeoutMs": 8000, "memoryLimitBytes": 16777216}
return new Proxy({}, {ownKeys() { const a = []; for (;;) a.push(new Uint8Array(1 << 20)) }})
