//## getters-that-count
//# expect: completed
//# value: [0,"refused"]
let n = 0; const o = {get x() { return ++n }}; try { return [n, await tools.echo(o)] } catch { return [n, 'refused'] }
//## changed-after-the-call
//# expect: completed
//# value: {"a":1,"l":[1]}
const o = {a: 1, l: [1]}; const p = tools.echo(o); o.a = 2; o.l.push(2); delete o.l; return await p
//## array-that-shrinks-while-it-is-read
//# expect: completed
const a = [{get x() { a.length = 1; return 1 }}, 2, 3, 4]; try { return await tools.echo({a}) } catch { return 'refused' }
//## object-that-grows-while-it-is-read
//# expect: completed or failed guest_deadline memory_limit_exceeded
//# options: {"timeoutMs": 2000}
const o = {}; let n = 0; Object.defineProperty(o, 'k', {enumerable: true, get() { for (let i = 0; i < 100; i++) o['x' + n++] = o; return 1 }}); try { await tools.echo({o}) } catch {} return 'through'
//## proxy-with-another-answer-each-time
//# expect: completed
let n = 0; const p = new Proxy({}, {ownKeys: () => n++ % 2 ? ['a'] : ['a', 'b'], getOwnPropertyDescriptor: (t, k) => ({value: n, enumerable: true, configurable: true}), get: () => ++n}); try { return typeof await tools.echo({p}) } catch (e) { return e.name }
//## reply-kept-and-changed
//# expect: completed
//# value: [{"n":1},{"n":1}]
const first = await tools.echo({n: 1}); first.n = 99; const again = await tools.echo({n: 1}); return [again, await tools.echo({n: 1})]
