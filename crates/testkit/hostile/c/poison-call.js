//## every-prototype
//# expect: completed
//# value: {"a":[1,{"b":2}]}
const evil = () => 'forged';
for (const C of [Object, Array, Function, String, Number, Boolean, Symbol, Promise, Map, Set, RegExp, Date, Error, ArrayBuffer, Uint8Array]) {
  for (const key of ['toJSON', 'then', 'catch', 'map', 'push', 'call', 'apply', 'bind', 'message', 'id', 'tool', 'value', 'args', 'name', 'length', 'target', 'effectStatus', 'toString', 'valueOf']) {
    if (C !== Object || key !== 'then') try { Object.defineProperty(C.prototype, key, {get: () => evil, set() {}, configurable: true}) } catch {}
  }
}
JSON.stringify = evil; JSON.parse = evil;
return await tools.echo({a: [1, {b: 2}]})
//## assignments
//# expect: completed
//# value: {"x":1}
const evil = function () { throw 'forged' };
Object.prototype.toJSON = evil; Array.prototype[Symbol.iterator] = evil; Promise.prototype.then = evil; Promise.resolve = evil; Promise.all = evil;
Object.keys = evil; Object.entries = evil; Reflect.ownKeys = evil; Array.isArray = evil; String.prototype.replace = evil; Map.prototype.get = evil; Map.prototype.set = evil; WeakMap.prototype.get = evil;
return await tools.echo({x: 1})
//## by-call
//# expect: completed
//# value: [{"n":1},{"n":2}]
Function.prototype.call = Function.prototype.apply = Function.prototype.bind = () => 'forged';
Object.setPrototypeOf(Promise.prototype, {then: () => 'forged'});
return [await tools.call('echo', {n: 1}), await tools.call('openclaw:core:echo', {n: 2})]
//## setters-on-object-prototype
//# expect: completed
//# value: [{"id":7,"method":"x"},[]]
const caught = [];
for (const key of ['id', 'method', 'target', 'arguments', 'resolve', 'reject', 'tool', 'input', 'result', 'error', 'status', '0', '1', 'length']) {
  Object.defineProperty(Object.prototype, key, {set(v) { caught.push([key, typeof v]) }, get() { return undefined }, configurable: true});
}
const r = await tools.echo(JSON.parse('{"id": 7, "method": "x"}'));
for (const key of ['id', 'method', 'target', 'arguments', 'resolve', 'reject', 'tool', 'input', 'result', 'error', 'status', '0', '1', 'length']) delete Object.prototype[key];
return [r, caught]
//## promise-species
//# expect: completed
//# value: {"s":1}
Object.defineProperty(Promise, Symbol.species, {get() { return function () { throw 'forged' } }});
Promise.prototype.constructor = class { constructor() { throw 'forged' } };
return await tools.echo({s: 1})
//## regexp-exec
//# expect: completed
//# value: "echo"
RegExp.prototype.exec = () => { throw 'forged' }; RegExp.prototype[Symbol.replace] = RegExp.prototype.exec; String.prototype.split = RegExp.prototype.exec;
const found = await tools.search('echo', {limit: 1});
return found[0].name
//## errors-of-tools
//# expect: completed
//# value: ["broken","failed"]
Object.defineProperty(Error.prototype, 'code', {set() { throw 'forged' }, get: () => 'forged', configurable: true});
Object.defineProperty(Object.prototype, 'effectStatus', {set() { throw 'forged' }, get: () => 'forged', configurable: true});
globalThis.Error = class { constructor() { return {code: 'forged'} } };
try { await tools.fail({}); return 'resolved' } catch (e) { return [e.code, e.effectStatus] }
