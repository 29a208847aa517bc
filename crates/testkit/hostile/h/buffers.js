//## transferred-in-a-callback
//# expect: completed or failed guest_error memory_limit_exceeded guest_deadline stack_overflow
//# options: {"timeoutMs": 3000}
//# value: 0
let b = new ArrayBuffer(4096); const a = new Uint8Array(b); const evil = {valueOf() { b.transfer(); return 7 }}; try { a.fill(evil) } catch {} try { a.set([1, 2, 3], evil) } catch {} try { a.sort(() => 1) } catch {} try { a.join({toString() { return 'x' }}) } catch {} return a.length
//## transferred-to-another-length
//# expect: completed or failed guest_error memory_limit_exceeded guest_deadline stack_overflow
//# options: {"timeoutMs": 3000}
//# value: [112,true,1048576]
const b = new ArrayBuffer(16); new Uint8Array(b).fill(7); const c = b.transfer(1 << 20); const u = new Uint8Array(c); let s = 0; for (const x of u) s += x; return [s, b.detached, c.byteLength]
//## twice
//# expect: completed or failed guest_error memory_limit_exceeded guest_deadline stack_overflow
//# options: {"timeoutMs": 3000}
const b = new ArrayBuffer(16), c = b.transfer(); const seen = []; for (const f of [() => b.transfer(), () => b.slice(), () => new Uint8Array(b), () => b.resize(1), () => new DataView(b)]) try { f(); seen.push('done') } catch (e) { seen.push(e.name) } return seen
//## slice-with-a-species-of-its-own
//# expect: completed or failed guest_error memory_limit_exceeded guest_deadline stack_overflow
//# options: {"timeoutMs": 3000}
const b = new ArrayBuffer(256); b.constructor = {[Symbol.species]: function (n) { return b }}; try { return b.slice(0, 16).byteLength } catch (e) { return e.name }
//## cloned-with-transfer
//# expect: completed or failed guest_error memory_limit_exceeded guest_deadline stack_overflow
//# options: {"timeoutMs": 3000}
const b = new ArrayBuffer(64); try { const c = structuredClone({b, d: b}, {transfer: [b, b]}); return c.b.byteLength } catch (e) { return e.name }
//## detached-under-text-decoder
//# expect: completed or failed guest_error memory_limit_exceeded guest_deadline stack_overflow
//# options: {"timeoutMs": 3000}
const b = new ArrayBuffer(1024), u = new Uint8Array(b); const o = {get stream() { b.transfer(); return true }}; try { return new TextDecoder().decode(u, o).length } catch (e) { return e.name }
//## encode-into-a-shrinking-one
//# expect: completed or failed guest_error memory_limit_exceeded guest_deadline stack_overflow
//# options: {"timeoutMs": 3000}
const b = new ArrayBuffer(1024, {maxByteLength: 2048}), u = new Uint8Array(b); const s = {toString() { b.resize(1); return 'x'.repeat(1000) }}; try { return new TextEncoder().encodeInto(s, u) } catch (e) { return e.name }
