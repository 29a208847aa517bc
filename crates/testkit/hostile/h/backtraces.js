//## at-the-end-of-memory
//# expect: completed or failed guest_error memory_limit_exceeded guest_deadline stack_overflow
//# options: {"timeoutMs": 5000, "memoryLimitBytes": 8388608}
const kept = []; const f = n => { if (n) return f(n - 1); for (;;) kept.push(new ArrayBuffer(32), new Error('x')) }; try { f(50) } catch (e) { kept.length = 0; return typeof e }
//## names-that-are-objects
//# expect: completed or failed guest_error memory_limit_exceeded guest_deadline stack_overflow
//# options: {"timeoutMs": 3000}
//# value: "string"
const f = () => { throw new Error('x') }; Object.defineProperty(f, 'name', {get() { throw 1 }}); Object.defineProperty(f, 'fileName', {value: {toString() { for (;;) {} }}}); try { f() } catch (e) { return typeof e.stack }
//## prepare-stack-trace
//# expect: completed or failed guest_error memory_limit_exceeded guest_deadline stack_overflow
//# options: {"timeoutMs": 3000}
Error.prepareStackTrace = (e, frames) => { for (const f of frames) { try { f.getFunction?.(); f.getThis?.() } catch {} } throw e }; try { throw new Error('x') } catch (e) { return typeof e.stack }
//## stack-trace-limit
//# expect: completed or failed guest_error memory_limit_exceeded guest_deadline stack_overflow
//# options: {"timeoutMs": 3000}
for (const n of [Infinity, -1, NaN, 1e9, {}]) { Error.stackTraceLimit = n; try { (function f(k) { if (k) return f(k - 1); throw new Error('x') })(300) } catch (e) { if (typeof e.stack !== 'string') return e.stack } } return 1
//## capture-on-odd-things
//# expect: completed or failed guest_error memory_limit_exceeded guest_deadline stack_overflow
//# options: {"timeoutMs": 3000}
//# value: 5
const seen = []; for (const o of [globalThis, Object.freeze({}), new Proxy({}, {defineProperty() { throw 1 }}), [], tools]) try { Error.captureStackTrace?.(o); seen.push(1) } catch { seen.push(0) } return seen.length
