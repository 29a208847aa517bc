//## resized-by-value-of
//# expect: completed or failed guest_error memory_limit_exceeded guest_deadline stack_overflow
//# options: {"timeoutMs": 3000}
const b = new ArrayBuffer(1024, {maxByteLength: 4096}), a = new Uint8Array(b); const evil = {valueOf() { b.resize(0); return 1 }}; for (const f of [() => a.fill(evil), () => a.fill(1, evil), () => a.with(evil, evil), () => a.set([evil, evil, evil]), () => a.copyWithin(evil, 0, 1000), () => a.subarray(evil), () => a.indexOf(evil, evil), () => a.at(evil), () => a.slice(evil)]) { b.resize(1024); try { f() } catch {} } return a.length
//## sorted-while-it-shrinks
//# expect: completed or failed guest_error memory_limit_exceeded guest_deadline stack_overflow
//# options: {"timeoutMs": 3000}
const b = new ArrayBuffer(4096, {maxByteLength: 8192}), a = new Float64Array(b); let n = 0; try { a.sort(() => { if (n++ === 3) b.resize(8); return Math.random() - 0.5 }) } catch {} return a.length
//## species-with-a-small-buffer
//# expect: completed or failed guest_error memory_limit_exceeded guest_deadline stack_overflow
//# options: {"timeoutMs": 3000}
class A extends Uint8Array { static get [Symbol.species]() { return function (n) { return new Uint8Array(1) } } } try { return new A(1000).slice(0, 500).length } catch (e) { return e.name }
//## constructed-from-itself-while-it-shrinks
//# expect: completed or failed guest_error memory_limit_exceeded guest_deadline stack_overflow
//# options: {"timeoutMs": 3000}
const b = new ArrayBuffer(1 << 16, {maxByteLength: 1 << 17}), a = new Uint32Array(b); a[Symbol.iterator] = function* () { yield 1; b.resize(4); yield 2 }; return [new Uint8Array(a).length, Uint8Array.from(a, x => (b.resize(0), x)).length]
//## set-from-an-overlapping-view
//# expect: completed or failed guest_error memory_limit_exceeded guest_deadline stack_overflow
//# options: {"timeoutMs": 3000}
const b = new ArrayBuffer(4096, {maxByteLength: 4096}), a = new Uint8Array(b), c = new Float32Array(b, 1024, 64); const evil = {length: 100, get 50() { b.resize(16); return 1 }}; try { a.set(evil) } catch {} try { a.set(c, 8) } catch {} return a.length
//## offset-beyond-the-end
//# expect: completed or failed guest_error memory_limit_exceeded guest_deadline stack_overflow
//# options: {"timeoutMs": 3000}
const b = new ArrayBuffer(64, {maxByteLength: 128}), d = new DataView(b, 32); b.resize(8); const seen = []; for (const f of ['getInt8', 'getFloat64', 'getBigInt64', 'setUint32']) try { seen.push(String(d[f](0, 1))) } catch (e) { seen.push(e.name) } return seen
//## huge-indices
//# expect: completed or failed guest_error memory_limit_exceeded guest_deadline stack_overflow
//# options: {"timeoutMs": 3000}
//# value: 0
const a = new Uint8Array(16); for (const i of [-1, 2 ** 31, 2 ** 32, 2 ** 53, NaN, '4294967296', '-0', 1e21]) { a[i] = 1; Reflect.set(a, i, 1); try { Object.defineProperty(a, i, {value: 1}) } catch {} } return [...a].reduce((x, y) => x + y)
//## to-reversed-and-to-sorted
//# expect: completed or failed guest_error memory_limit_exceeded guest_deadline stack_overflow
//# options: {"timeoutMs": 3000}
const b = new ArrayBuffer(800, {maxByteLength: 1600}), a = new Int16Array(b); try { a.toSorted(() => (b.resize(0), 1)) } catch {} b.resize(800); try { a.map(() => (b.resize(2), 1)) } catch {} b.resize(800); try { a.filter(() => (b.resize(0), true)) } catch {} return a.length
