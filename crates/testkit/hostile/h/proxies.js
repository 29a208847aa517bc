//## target-changed-in-a-trap
//# expect: completed or failed guest_error memory_limit_exceeded guest_deadline stack_overflow
//# options: {"timeoutMs": 3000}
const t = [1, 2, 3]; const p = new Proxy(t, {get(t, k) { t.length = 0; t.push({}, {}); return Reflect.get(t, k) }, has(t, k) { delete t[k]; return true }}); for (const m of ['slice', 'splice', 'sort', 'concat', 'reverse', 'flat', 'indexOf', 'join']) try { Array.prototype[m].call(p, 0, 1) } catch {} return t.length
//## revoked-inside-itself
//# expect: completed or failed guest_error memory_limit_exceeded guest_deadline stack_overflow
//# options: {"timeoutMs": 3000}
//# value: 5
const r = Proxy.revocable(function () {}, {apply() { r.revoke(); return 1 }, get() { r.revoke(); return 1 }, construct() { r.revoke(); return {} }}); const seen = []; for (const f of [() => r.proxy(), () => r.proxy.x, () => new r.proxy(), () => typeof r.proxy, () => Object.keys(r.proxy)]) try { seen.push(String(f())) } catch (e) { seen.push(e.name) } return seen.length
//## own-keys-that-lie
//# expect: completed or failed guest_error memory_limit_exceeded guest_deadline stack_overflow
//# options: {"timeoutMs": 3000}
const seen = []; for (const keys of [['a', 'a'], [1], [Symbol.iterator], Array(1000).fill('x'), {length: 2 ** 32}, {length: -1}, null]) { const p = new Proxy(Object.preventExtensions({b: 1}), {ownKeys: () => keys}); try { Object.keys(p); seen.push('taken') } catch (e) { seen.push(e.name) } } return seen
//## descriptor-that-lies
//# expect: completed or failed guest_error memory_limit_exceeded guest_deadline stack_overflow
//# options: {"timeoutMs": 3000}
const p = new Proxy({}, {getOwnPropertyDescriptor: () => ({value: 1, configurable: false}), defineProperty: () => true, deleteProperty: () => true}); const seen = []; for (const f of [() => Object.getOwnPropertyDescriptor(p, 'x'), () => Object.defineProperty(p, 'x', {configurable: false}), () => delete p.x]) try { f(); seen.push('taken') } catch (e) { seen.push(e.name) } return seen
//## set-prototype-loop
//# expect: completed or failed guest_error memory_limit_exceeded guest_deadline stack_overflow
//# options: {"timeoutMs": 3000}
const a = {}, p = new Proxy(a, {}); try { Object.setPrototypeOf(a, p); return 'x' in a } catch (e) { return e.name }
//## as-array-prototype
//# expect: completed or failed guest_error memory_limit_exceeded guest_deadline stack_overflow
//# options: {"timeoutMs": 3000}
const p = new Proxy([], {get: (t, k, r) => k === 'length' ? 100 : t[k]}); const a = Object.create(p); try { a.push(1); a.pop(); return [].concat(a).length } catch (e) { return e.name }
