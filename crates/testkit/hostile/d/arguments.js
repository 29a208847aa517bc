//## cycles
//# expect: completed or failed guest_error
const a = {}; a.self = a; try { return await tools.echo(a) } catch (e) { return e.code ?? e.name }
//## no-json
//# expect: completed
const seen = [];
for (const v of [10n, Symbol('x'), () => 1, undefined, NaN, Infinity, -0, new Date(0), new Map([[1, 2]]), new Set([1]), /x/, new Error('e'), new Uint8Array(3), Promise.resolve(1), new WeakMap(), globalThis, tools]) {
  try { seen.push(JSON.stringify(await tools.echo({v}))?.slice(0, 80)) } catch (e) { seen.push(e.code ?? e.name) }
}
return seen
//## throwing-proxies
//# expect: completed
//# value: 12
let caught = 0; const traps = ['get', 'has', 'ownKeys', 'getOwnPropertyDescriptor', 'getPrototypeOf', 'isExtensible'];
for (const t of traps) { for (const target of [{a: 1}, [1]]) { try { await tools.echo({p: new Proxy(target, {[t]() { throw new Error(t) }})}); caught++ } catch { caught++ } } }
return caught
//## revoked-proxy
//# expect: completed
const {proxy, revoke} = Proxy.revocable({a: 1}, {}); revoke(); try { return await tools.echo({proxy}) } catch (e) { return e.code ?? e.name }
//## getters-that-call-tools
//# expect: completed
//# value: 3
let n = 0; const o = {get a() { n++; tools.note_w({inner: 1}); return 1 }, get b() { n++; tools.note_w({inner: 2}); return 2 }};
try { await tools.echo(o) } catch {} return n === 2 || n === 0 ? 3 : n
//## sparse-and-odd-numbers
//# expect: completed
return await tools.echo({a: [, 1, , 2], b: -0, c: 0.1 + 0.2, d: 1e308, e: 5e-324, f: 2 ** 53 + 1, g: [undefined, NaN]})
//## lone-surrogates
//# expect: completed
return await tools.echo({a: '\ud800', ['\udc00']: 1, b: '\ud83d\ude00', c: 'x\udfff'})
//## keys-that-mean-something
//# expect: completed
const r = await tools.echo(JSON.parse('{"__proto__": {"x": 1}, "constructor": 2, "toJSON": 3, "then": 4, "": 5, "length": 6}'));
return [Object.keys(r).sort(), ({}).x === undefined, Object.getPrototypeOf(r) === Object.prototype]
//## odd-replies
//# expect: completed
//# value: [true,true,"string",9007199254740991]
const r = await tools.odd({}); return [({}).polluted === undefined, Object.getPrototypeOf(r) === Object.prototype, typeof r.then, r.length]
//## many-arguments
//# expect: completed or failed nested_tool_failed guest_error
return await tools.echo({a: 1}, {b: 2}, 'c')
//## no-object
//# expect: completed
const seen = []; for (const v of ['text', 1, null, [1], true]) try { seen.push(await tools.echo(v)) } catch (e) { seen.push(e.code ?? e.name) } return seen
