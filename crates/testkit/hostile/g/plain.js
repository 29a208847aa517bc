//## function
//# expect: completed
//# value: "RangeError"
const f = () => f(); try { f() } catch (e) { return e.name }
//## uncaught
//# expect: failed stack_overflow guest_error
(function f() { return 1 + f() })()
//## mutual
//# expect: completed or failed stack_overflow guest_error
//# value: true
const a = n => b(n + 1), b = n => a(n + 1); try { a(0) } catch (e) { return e instanceof RangeError }
//## async
//# expect: completed or failed stack_overflow guest_error memory_limit_exceeded guest_deadline
const f = async n => { await f(n + 1) }; await f(0)
//## generator
//# expect: completed or failed stack_overflow guest_error
//# value: "RangeError"
function* g() { yield* g() } try { [...g()] } catch (e) { return e.name }
//## getter
//# expect: completed or failed stack_overflow guest_error
//# value: "RangeError"
const o = {get a() { return this.a }}; try { o.a } catch (e) { return e.name }
//## constructor
//# expect: completed or failed stack_overflow guest_error
//# value: "RangeError"
class A { constructor() { this.a = new A() } } try { new A() } catch (e) { return e.name }
//## in-catch
//# expect: completed or failed stack_overflow guest_error guest_deadline
//# options: {"timeoutMs": 2000}
let n = 0; const f = () => { try { f() } catch { n++; f() } }; try { f() } catch (e) { return e.name }
//## in-finally
//# expect: completed or failed stack_overflow guest_error guest_deadline
//# options: {"timeoutMs": 500}
const f = () => { try { f() } finally { f() } }; f()
//## many-locals
//# expect: completed or failed stack_overflow guest_error
const f = (...a) => { const [b, c, d, e] = a; return f(...a, b, c, d, e) }; try { f(1, 2, 3, 4) } catch (e) { return e.name }
//## and-then-a-call
//# expect: completed
//# value: {"n":1}
const f = () => f(); for (let i = 0; i < 20; i++) try { f() } catch {} return await tools.echo({n: 1})
