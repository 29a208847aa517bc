//## and-gone-on
//# expect: completed or failed memory_limit_exceeded
//# options: {"timeoutMs": 8000, "memoryLimitBytes": 16777216}
let n = 0; for (let i = 0; i < 5; i++) { try { const a = []; for (;;) a.push('x'.repeat(1e5) + a.length) } catch (e) { n++ } } return n
//## in-a-loop-for-ever
//# expect: failed memory_limit_exceeded guest_deadline
//# options: {"timeoutMs": 500, "memoryLimitBytes": 16777216}
for (;;) { try { const a = []; for (;;) a.push(new Uint8Array(1 << 20)) } catch {} }
//## call-after-it
//# expect: completed or failed memory_limit_exceeded nested_tool_failed
//# options: {"timeoutMs": 8000, "memoryLimitBytes": 16777216}
let kept = []; try { for (;;) kept.push(new Uint8Array(1 << 16)) } catch {} try { await tools.note_w({n: 1}) } catch (e) { kept = null; return 'refused' } return 'called'
//## text-after-it
//# expect: completed or failed memory_limit_exceeded guest_error
//# options: {"timeoutMs": 8000, "memoryLimitBytes": 16777216}
const kept = []; try { for (;;) kept.push(new Uint8Array(1 << 12)) } catch {} text('still here'); return 1
//## in-finally
//# expect: failed memory_limit_exceeded
//# options: {"timeoutMs": 8000, "memoryLimitBytes": 16777216}
const a = []; try { for (;;) a.push(new Uint8Array(1 << 20)) } finally { for (;;) a.push([]) }
//## very-last-bytes
//# expect: completed or failed memory_limit_exceeded guest_error
//# options: {"timeoutMs": 8000, "memoryLimitBytes": 16777216}
const kept = []; for (let size = 1 << 20; size > 8; size >>= 1) { try { for (;;) kept.push(new ArrayBuffer(size)) } catch {} } try { return {a: [1, 2, 3]} } catch { return null }
