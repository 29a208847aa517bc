//## map-deleted-while-iterated
//# expect: completed or failed guest_error memory_limit_exceeded guest_deadline stack_overflow
//# options: {"timeoutMs": 3000}
const m = new Map(); for (let i = 0; i < 1000; i++) m.set(i, i); let n = 0; for (const [k] of m) { m.delete(k); m.delete(k + 1); m.set(k + 10000 + n, 1); if (++n > 5000) break } return n > 0
//## set-cleared-in-for-each
//# expect: completed or failed guest_error memory_limit_exceeded guest_deadline stack_overflow
//# options: {"timeoutMs": 3000}
const s = new Set([1, 2, 3]); let n = 0; s.forEach(x => { s.clear(); if (n++ < 1000) s.add(x + 1) }); return n
//## map-iterator-kept-after-clear
//# expect: completed or failed guest_error memory_limit_exceeded guest_deadline stack_overflow
//# options: {"timeoutMs": 3000}
const m = new Map(Array.from({length: 500}, (_, i) => [i, {}])); const its = Array.from({length: 50}, () => m.entries()); its.forEach(i => i.next()); m.clear(); for (let i = 0; i < 500; i++) m.set({}, i); return its.map(i => i.next().done).length
//## array-shortened-while-spread
//# expect: completed or failed guest_error memory_limit_exceeded guest_deadline stack_overflow
//# options: {"timeoutMs": 3000}
const a = Array.from({length: 10000}, (_, i) => ({i})); a[Symbol.iterator] = function* () { for (let i = 0; i < this.length; i++) { this.length = Math.max(0, this.length - 3); yield this[i] } }; return [...a].length
//## closing-iterators-that-throw
//# expect: completed or failed guest_error memory_limit_exceeded guest_deadline stack_overflow
//# options: {"timeoutMs": 3000}
const seen = []; const it = {[Symbol.iterator]() { return this }, next: () => ({done: false, value: 1}), return() { seen.push('closed'); throw new Error('again') }}; for (const f of [() => { const [a] = it }, () => { for (const x of it) break }, () => new Map(it), () => Promise.all(it)]) try { await Promise.race([f(), 1]); } catch (e) { seen.push(e.name) } return seen.length > 0
//## generator-that-runs-itself
//# expect: completed or failed guest_error memory_limit_exceeded guest_deadline stack_overflow
//# options: {"timeoutMs": 3000}
//# value: ["TypeError","TypeError"]
let g; function* f() { try { g.next() } catch (e) { yield e.name } try { g.return(1) } catch (e) { yield e.name } } g = f(); return [...g]
//## iterator-helpers-reentered
//# expect: completed or failed guest_error memory_limit_exceeded guest_deadline stack_overflow
//# options: {"timeoutMs": 3000}
const i = [1, 2, 3].values().map(x => { try { i.next() } catch (e) { return e.name } return x }).filter(x => (i.next, true)).flatMap(x => [x, x]); return [...i].length
//## regexp-string-iterator
//# expect: completed or failed guest_error memory_limit_exceeded guest_deadline stack_overflow
//# options: {"timeoutMs": 3000}
const r = /a/g; r.exec = function () { r.lastIndex = 2 ** 53; return {0: '', index: 1} }; let n = 0; for (const m of 'aaa'.matchAll(r)) if (n++ > 100) break; return n
//## for-in-with-changes
//# expect: completed or failed guest_error memory_limit_exceeded guest_deadline stack_overflow
//# options: {"timeoutMs": 3000}
//# value: "a"
const o = {a: 1, b: 2, c: 3}; const seen = []; for (const k in o) { seen.push(k); delete o.b; delete o.c; o['n' + seen.length] = 1; Object.setPrototypeOf(o, {z: 1}) } return seen[0]
