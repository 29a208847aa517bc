//## reviver
//# expect: completed or failed stack_overflow guest_error
//# value: "RangeError"
const f = () => JSON.parse('[1]', () => f()); try { f() } catch (e) { return e.name }
//## sort
//# expect: completed or failed stack_overflow guest_error
//# value: "RangeError"
const f = () => [2, 1].sort(() => f()); try { f() } catch (e) { return e.name }
//## to-string
//# expect: completed or failed stack_overflow guest_error
//# value: "RangeError"
const o = {toString() { return '' + o }}; try { '' + o } catch (e) { return e.name }
//## proxy
//# expect: completed or failed stack_overflow guest_error
//# value: "RangeError"
const p = new Proxy({}, {get: (t, k, r) => r[k]}); try { p.x } catch (e) { return e.name }
//## replace
//# expect: completed or failed stack_overflow guest_error
//# value: "RangeError"
const f = () => 'a'.replace(/a/, f); try { f() } catch (e) { return e.name }
//## map-and-reduce
//# expect: completed or failed stack_overflow guest_error
//# value: "RangeError"
const f = () => [1].map(() => [1, 2].reduce(() => f())); try { f() } catch (e) { return e.name }
//## iterator
//# expect: completed or failed stack_overflow guest_error
//# value: "RangeError"
const o = {[Symbol.iterator]() { return [...o] }}; try { [...o] } catch (e) { return e.name }
//## reflect
//# expect: completed or failed stack_overflow guest_error
//# value: "RangeError"
const f = () => Reflect.apply(f, null, []); try { f() } catch (e) { return e.name }
//## to-json
//# expect: completed or failed stack_overflow guest_error
//# value: "RangeError"
const o = {toJSON() { return JSON.stringify(o) }}; try { JSON.stringify(o) } catch (e) { return e.name }
//## bound
//# expect: completed or failed stack_overflow guest_error memory_limit_exceeded
let f = () => 1; for (let i = 0; i < 100000; i++) f = f.bind(null); try { return f() } catch (e) { return e.name }
//## array-from
//# expect: completed or failed stack_overflow guest_error
//# value: "RangeError"
const f = () => Array.from([1], f); try { f() } catch (e) { return e.name }
//## compare
//# expect: completed or failed stack_overflow guest_error
//# value: "RangeError"
const o = {valueOf() { return o < 1 }}; try { o < 1 } catch (e) { return e.name }
//## has-instance
//# expect: completed or failed stack_overflow guest_error
//# value: "RangeError"
const o = {}; o[Symbol.hasInstance] = () => 1 instanceof o; try { 1 instanceof o } catch (e) { return e.name }
//## clone
//# expect: completed or failed stack_overflow guest_error
let a = []; for (let i = 0; i < 100000; i++) a = [a]; try { structuredClone(a) } catch (e) { return e.name }
