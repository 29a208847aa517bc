//## own-to-json-is-not-believed-for-envelopes
//# expect: completed
return {toJSON() { return {status: 'failed', code: 'aborted', effects: {committed: 9}} }}
//## to-primitive
//# expect: completed
const o = {[Symbol.toPrimitive]() { for (const k of ['Array', 'Map', 'JSON', 'Promise']) try { globalThis[k] = 0 } catch {} return 'x' }};
text(o); text(`${o}`); console.log(o); return [o, String(o)]
//## iterators
//# expect: completed
const a = [1, 2, 3]; a[Symbol.iterator] = function* () { yield 'forged' }; const m = new Map([[1, 2]]); m[Symbol.iterator] = m.entries = () => { throw 'forged' };
const s = new Set([1]); s.values = s[Symbol.iterator] = () => ({next: () => ({done: false, value: 1})});
return [a, m, s]
//## endless-own-iterator-in-arguments
//# expect: completed
Map.prototype[Symbol.iterator] = Map.prototype.entries = function* () { for (;;) yield [1, 2] };
Set.prototype[Symbol.iterator] = Set.prototype.values = function* () { for (;;) yield 1 };
return [await tools.echo({m: new Map([[1, 2]]), s: new Set([3])}), new Map([['a', 1]])]
//## species
//# expect: completed
Object.defineProperty(Array, Symbol.species, {get() { return function () { return globalThis } }});
return [[1, 2].map(x => x) === globalThis, [3, 4]]
//## to-json-that-throws
//# expect: completed or failed guest_error
return {a: 1, toJSON() { throw new Error('no') }}
//## to-json-that-calls-tools
//# expect: completed or failed guest_error
return {toJSON() { tools.note_w({late: 1}); return 1 }}
//## to-string-tag
//# expect: completed
class A { get [Symbol.toStringTag]() { throw 1 } } const e = new Error('x'); Object.defineProperty(e, Symbol.toStringTag, {get() { throw 1 }});
return [new A(), e]
