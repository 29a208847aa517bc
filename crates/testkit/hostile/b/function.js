//## by-name
//# expect: completed
//# value: ["EvalError","EvalError"]
const seen = [];
for (const f of [() => Function('return 1'), () => new Function('a', 'return a')]) { try { f(); seen.push('made') } catch (e) { seen.push(e.name) } }
return seen
//## by-every-constructor
//# expect: completed
//# value: ["EvalError"]
const seen = new Set();
const kinds = [function () {}, () => {}, async () => {}, function* () {}, async function* () {}, class {}, text, tools.call, Array, Object.getOwnPropertyDescriptor(Map.prototype, 'size').get, (() => {}).bind()];
for (const f of kinds) {
  for (const make of [() => f.constructor('return 1'), () => new f.constructor('return 1'), () => Reflect.construct(f.constructor, ['return 1']),
    () => Reflect.apply(f.constructor, null, ['return 1']), () => f.constructor.call({}, 'return 1'), () => f.constructor.bind()('return 1'),
    () => Object.getPrototypeOf(f).constructor('return 1'), () => Reflect.construct(Object, ['x'], f.constructor) && f.constructor('x')]) {
    try { make(); seen.add('made ' + make) } catch (e) { seen.add(e.name) }
  }
}
return [...seen]
//## by-subclass
//# expect: completed
//# value: ["EvalError","EvalError"]
const seen = [];
class F extends Function {}
try { new F('return 1'); seen.push('made') } catch (e) { seen.push(e.name) }
class G extends (async function* () {}).constructor {}
try { new G('yield 1'); seen.push('made') } catch (e) { seen.push(e.name) }
return seen
//## by-species-and-callbacks
//# expect: completed
//# value: ["EvalError","EvalError","EvalError","EvalError"]
const seen = [], F = (() => {}).constructor;
for (const f of [() => ['return 1'].map(F), () => [['a'], ['return a']].reduce((a, b) => F(...a, ...b)), () => 'return 1'.replace(/.+/, F),
  () => Array.from({length: 1}, () => F('x'))]) { try { f(); seen.push('made') } catch (e) { seen.push(e.name) } }
return seen
//## through-a-proxy
//# expect: completed
//# value: ["EvalError","EvalError"]
const P = new Proxy((() => {}).constructor, {}), seen = [];
for (const f of [() => P('return 1'), () => new P('return 1')]) { try { f(); seen.push('made') } catch (e) { seen.push(e.name) } }
return seen
//## after-poisoning-the-error
//# expect: completed
//# value: "refused"
globalThis.EvalError = function () { return {run: true} }; Error.prototype.constructor = Object; Function.prototype.call = () => 1;
try { (() => {}).constructor('return 1'); return 'made' } catch { return 'refused' }
