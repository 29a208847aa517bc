//## typed-arrays
//# expect: failed memory_limit_exceeded
//# options: {"timeoutMs": 8000, "memoryLimitBytes": 16777216}
const a = []; for (;;) a.push(new Uint8Array(1 << 20))
//## one-huge
//# expect: completed or failed memory_limit_exceeded guest_error
//# options: {"timeoutMs": 8000, "memoryLimitBytes": 16777216}
try { new ArrayBuffer(2 ** 32); return 'made' } catch (e) { return e.name }
//## largest-of-all
//# expect: completed
//# options: {"timeoutMs": 8000, "memoryLimitBytes": 16777216}
//# value: ["refused"]
const seen = new Set(); for (const n of [2 ** 31 - 1, 2 ** 31, 2 ** 32 - 1, 2 ** 32, 2 ** 40, 2 ** 53 - 1]) for (const C of [ArrayBuffer, Uint8Array, Float64Array]) try { new C(n); seen.add('made') } catch (e) { seen.add('refused') } return [...seen]
//## resizable
//# expect: failed memory_limit_exceeded
//# options: {"timeoutMs": 8000, "memoryLimitBytes": 16777216}
const b = new ArrayBuffer(1, {maxByteLength: 2 ** 30}); for (let n = 1;; n *= 2) { try { b.resize(n) } catch (e) { if (n > 2 ** 30) for (;;) [].push.apply([], new Array(1e6)); const a = []; for (;;) a.push(new Uint8Array(1 << 20)) } }
//## resizable-many
//# expect: completed or failed memory_limit_exceeded
//# options: {"timeoutMs": 8000, "memoryLimitBytes": 16777216}
const kept = []; try { for (;;) kept.push(new ArrayBuffer(8, {maxByteLength: 2 ** 30})) } catch (e) { return kept.length < 1e6 }
//## grow-by-transfer
//# expect: completed or failed memory_limit_exceeded
//# options: {"timeoutMs": 8000, "memoryLimitBytes": 16777216}
let b = new ArrayBuffer(16); try { for (;;) b = b.transfer(b.byteLength * 2) } catch (e) { return b.byteLength < 2 ** 26 || b.byteLength }
//## views-of-one
//# expect: failed memory_limit_exceeded
//# options: {"timeoutMs": 8000, "memoryLimitBytes": 16777216}
const b = new ArrayBuffer(8), a = []; for (;;) a.push(new DataView(b), new Uint8Array(b))
