//## each-call-settles-once
//# expect: completed
//# value: [3,["a","b","c"]]
let settled = 0; const all = ['a', 'b', 'c'].map(k => tools.echo({k}).then(r => { settled++; return r.k }));
const values = await Promise.all(all); await Promise.all(all); return [settled, values]
//## a-resolver-that-is-kept
//# expect: completed
//# value: [{"n":1},{"n":2}]
const kept = []; const old = Promise.prototype.then; Promise.prototype.then = function (a, b) { kept.push(a, b); return old.call(this, a, b) };
const one = await tools.echo({n: 1}); for (const f of kept) try { f && f('forged') } catch {}
return [one, await tools.echo({n: 2})]
//## a-subclass-of-the-promise
//# expect: completed
//# value: {"n":1}
class P extends Promise { constructor(f) { super((a, b) => f(a, b)) } static get [Symbol.species]() { return P } }
const p = tools.echo({n: 1}); Object.setPrototypeOf(p, P.prototype); p.constructor = P; return await p.then(x => x)
//## resolved-with-itself
//# expect: completed
//# value: "TypeError"
let r; const p = new Promise(f => r = f); r(p); try { await p } catch (e) { return e.name }
