//## memory-copy
//# expect: failed guest_deadline memory_limit_exceeded
//# options: {"timeoutMs": 300}
const a = new Uint8Array(1 << 24); for (;;) a.copyWithin(1, 0)
//## memory-fill
//# expect: failed guest_deadline
//# options: {"timeoutMs": 300}
const a = new Uint8Array(1 << 24); for (;;) a.fill(1)
//## set
//# expect: failed guest_deadline
//# options: {"timeoutMs": 300}
const a = new Uint8Array(1 << 23), b = new Uint8Array(1 << 23); for (;;) a.set(b)
//## slice
//# expect: failed guest_deadline memory_limit_exceeded
//# options: {"timeoutMs": 300}
const a = new Uint8Array(1 << 23); for (;;) a.slice()
//## growing
//# expect: failed guest_deadline memory_limit_exceeded
//# options: {"timeoutMs": 300}
const b = new ArrayBuffer(1, {maxByteLength: 1 << 24}); for (;;) { b.resize(1 << 24); b.resize(1) }
//## repeat
//# expect: failed guest_deadline memory_limit_exceeded
//# options: {"timeoutMs": 300}
for (;;) 'ab'.repeat(1 << 23)
//## while-calls-are-out
//# expect: failed guest_deadline
//# options: {"timeoutMs": 300}
tools.hang_w({}); tools.note_w({}); await tools.echo({}); const a = new Uint8Array(1 << 24); for (;;) a.copyWithin(1, 0)
