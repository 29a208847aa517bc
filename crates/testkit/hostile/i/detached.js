//## write-at-return
//# expect: completed
//# value: "returned"
tools.note_w({n: 1}); return 'returned'
//## chain-at-return
//# expect: completed
//# value: 1
tools.note_w({n: 1}).then(() => tools.note_w({n: 2})).then(() => text('last')); return 1
//## rejection-at-return
//# expect: failed nested_tool_failed guest_error
tools.fail({}); return 1
//## rejection-handled-late
//# expect: completed
//# value: 1
const p = tools.fail({}); setTimeout(() => p.catch(() => {}), 5); await tools.echo({}); await new Promise(r => setTimeout(r, 20)); return 1
//## never-ending-at-return
//# expect: waiting
//# options: {"timeoutMs": 300}
//# waits: 1
tools.hang_w({}); return 1
//## throw-with-calls-outstanding
//# expect: failed guest_error
tools.note_w({n: 1}); tools.note_w({n: 2}); throw new Error('on purpose')
//## hundred-at-return
//# expect: completed
//# value: "all"
for (let i = 0; i < 100; i++) tools.note_w({i}); return 'all'
//## promise-in-the-value
//# expect: completed
return {p: tools.note_w({n: 1})}
//## async-function-not-awaited
//# expect: completed
//# value: 1
(async () => { for (let i = 0; i < 3; i++) await tools.note_w({i}); text('done') })(); return 1
