//## arguments-100000-deep
//# expect: completed
//# value: "refused"
let a = 1; for (let i = 0; i < 100000; i++) a = [a]; try { await tools.echo({a}); return 'taken' } catch { return 'refused' }
//## objects-100000-deep
//# expect: completed
//# value: "refused"
let a = {}; for (let i = 0; i < 100000; i++) a = {a}; try { await tools.echo(a); return 'taken' } catch { return 'refused' }
//## value-100000-deep
//# expect: failed guest_error stack_overflow output_limit_exceeded
let a = 1; for (let i = 0; i < 100000; i++) a = [a]; return a
//## reply-that-is-deep
//# expect: completed
//# value: ["taken","refused"]
const seen = []; for (const levels of [500, 600]) try { await tools.deep({levels}); seen.push('taken') } catch { seen.push('refused') } return seen
//## million-keys-out
//# expect: completed or failed memory_limit_exceeded guest_deadline guest_error
const o = {}; for (let i = 0; i < 1e6; i++) o['k' + i] = i; try { await tools.echo(o); return 'taken' } catch (e) { return 'refused' }
//## many-keys-in
//# expect: completed
//# value: 100000
return Object.keys(await tools.many({keys: 100000})).length
//## error-with-a-deep-cause
//# expect: failed guest_error stack_overflow
let e = new Error('0'); for (let i = 0; i < 50000; i++) e = new Error(String(i), {cause: e}); throw e
