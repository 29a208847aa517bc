//## no-reader-in-reach
//# expect: completed
//# options: {"timeoutMs": 3000}
//# value: []
const seen = new Set(), open = [globalThis]; let bad = []; while (open.length) { const o = open.pop(); if (o === null || (typeof o !== 'object' && typeof o !== 'function') || seen.has(o)) continue; seen.add(o); for (const k of Reflect.ownKeys(o)) { if (/bytecode|readObject|writeObject|evalBinary|compileModule|loadModule|deserialize/i.test(String(k))) bad.push(String(k)); try { const d = Reflect.getOwnPropertyDescriptor(o, k); open.push(d.value, d.get, d.set) } catch {} } open.push(Reflect.getPrototypeOf(o)) } return bad
//## clone-does-not-revive-code
//# expect: completed
//# options: {"timeoutMs": 3000}
//# value: false
const seen = []; for (const v of [() => 1, class {}, Symbol('x'), new Proxy({}, {}), new WeakMap(), globalThis.tools?.echo]) try { const c = structuredClone(v); seen.push(typeof c === 'function' ? 'code' : 'data') } catch (e) { seen.push('refused') } return seen.includes('code')
//## decoded-bytes-stay-bytes
//# expect: completed
//# options: {"timeoutMs": 3000}
//# value: "string"
const bytes = Uint8Array.from({length: 256}, (_, i) => i); const s = new TextDecoder('utf-8').decode(bytes); await results.save(Array.from(bytes)); return typeof s
//## text-that-looks-like-it
//# expect: completed
//# options: {"timeoutMs": 3000}
const magic = String.fromCharCode(0x19, 0x05, 0x04, 0x05) + 'x'.repeat(100); const seen = []; for (const f of [() => JSON.parse(magic), () => new RegExp(magic), () => BigInt(magic), () => new URL(magic), () => atob(magic)]) try { f(); seen.push('taken') } catch (e) { seen.push(e.name) } return seen
