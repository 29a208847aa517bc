//## promise
//# expect: failed deadlock
await new Promise(() => {}); return 1
//## promise-after-a-call
//# expect: failed deadlock
await tools.note_w({}); await new Promise(() => {})
//## tool
//# expect: waiting
//# options: {"timeoutMs": 300}
//# waits: 2
await tools.hang({}); return 1
//## tool-that-writes
//# expect: waiting
//# options: {"timeoutMs": 300}
//# waits: 1
await tools.hang_w({}); return 1
//## race-with-nothing
//# expect: failed deadlock
await Promise.race([])
//## async-iterator
//# expect: failed deadlock
for await (const x of {[Symbol.asyncIterator]: () => ({next: () => new Promise(() => {})})}) {}
//## thenable
//# expect: failed deadlock
await {then() {}}
//## dispose
//# expect: failed deadlock
await using x = {[Symbol.asyncDispose]: () => new Promise(() => {})}; return 1
//## one-of-many
//# expect: waiting
//# options: {"timeoutMs": 300}
//# waits: 1
await Promise.all([tools.echo({}), tools.hang({}), tools.note_w({})]); return 1
