//## on-index-zero
//# expect: completed
//# value: [1,2]
Object.defineProperty(Array.prototype, '0', {get() { return 'forged' }, set() { throw 'forged' }, configurable: true});
return [1, 2]
//## on-length
//# expect: completed
const o = {0: 'a', get length() { tools.note_w({n: 1}); return 1e9 }}; Object.setPrototypeOf(o, Array.prototype);
return o
//## own-getters-in-values
//# expect: completed or failed guest_error
let n = 0; return {get a() { return ++n }, get b() { throw new Error('no') }}
//## getter-that-never-ends
//# expect: completed
//# value: {"a":"[getter: not called]"}
return {get a() { for (;;) {} }}
//## getter-in-arguments
//# expect: completed or failed guest_error nested_tool_failed
let n = 0; const r = await tools.echo({get a() { return ++n }}); return [r, n]
//## then-as-a-getter
//# expect: completed or failed guest_error
return {get then() { text('looked'); return undefined }}
//## thenable-as-a-value
//# expect: completed
//# value: "inner"
return {then(resolve) { resolve('inner') }}
//## thenable-that-answers-twice
//# expect: completed
//# value: 1
return {then(resolve, reject) { resolve(1); resolve(2); reject(3); throw 4 }}
