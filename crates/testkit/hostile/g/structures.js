//## flat-infinity
//# expect: completed or failed stack_overflow guest_error guest_deadline memory_limit_exceeded
let a = [1]; for (let i = 0; i < 100000; i++) a = [a]; try { return a.flat(Infinity).length } catch (e) { return e.name }
//## flat-of-itself
//# expect: completed or failed stack_overflow guest_error guest_deadline
//# options: {"timeoutMs": 1000}
const a = []; a.push(a); try { return a.flat(Infinity) } catch (e) { return e.name }
//## spread-a-million
//# expect: completed or failed stack_overflow guest_error memory_limit_exceeded
try { return Math.max(...new Array(1e6).fill(1)) } catch (e) { return e.name }
//## apply-a-million
//# expect: completed or failed stack_overflow guest_error memory_limit_exceeded
try { return String.fromCharCode.apply(null, new Array(1e6).fill(65)).length } catch (e) { return e.name }
//## new-with-a-million
//# expect: completed or failed stack_overflow guest_error memory_limit_exceeded
try { return new Array(...new Array(1e6).fill(1)).length } catch (e) { return e.name }
//## stringify-deep
//# expect: completed or failed stack_overflow guest_error
let a = []; for (let i = 0; i < 100000; i++) a = [a]; try { return JSON.stringify(a).length } catch (e) { return e.name }
//## parse-deep
//# expect: completed or failed stack_overflow guest_error
try { return JSON.parse('['.repeat(100000) + ']'.repeat(100000)).length } catch (e) { return e.name }
//## to-string-deep
//# expect: completed or failed stack_overflow guest_error
let a = []; for (let i = 0; i < 100000; i++) a = [a]; try { return String(a).length } catch (e) { return e.name }
//## prototype-chain
//# expect: completed or failed stack_overflow guest_error guest_deadline
//# value: true
let o = null; for (let i = 0; i < 200000; i++) o = Object.create(o); return o.nothing === undefined
//## promise-resolved-with-promise
//# expect: completed or failed stack_overflow guest_error guest_deadline memory_limit_exceeded
let p = Promise.resolve(1); for (let i = 0; i < 50000; i++) p = Promise.all([p]); const v = await p; return Array.isArray(v)
//## freed-deep
//# expect: completed
//# value: 1
let a = null; for (let i = 0; i < 300000; i++) a = {a}; a = null; return 1
//## returned-deep
//# expect: failed guest_error stack_overflow output_limit_exceeded
let a = 1; for (let i = 0; i < 5000; i++) a = {a}; return a
