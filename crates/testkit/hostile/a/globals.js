//# The golden list of global names is held by a test of its own; here, what a program can reach besides.
//## no-hidden-globals
//# expect: completed
//# value: []
const names = new Set(Object.getOwnPropertyNames(globalThis));
return [...Object.getOwnPropertySymbols(globalThis).map(String).filter(s => s !== 'Symbol(Symbol.toStringTag)'),
  ...[...names].filter(n => /^_|internal|bridge|host|wasm|qjs|bjson|native/i.test(n) && n !== 'InternalError')]
//## prototype-of-the-global
//# expect: completed
//# value: [true,null]
return [Object.getPrototypeOf(globalThis) === Object.prototype, Object.getPrototypeOf(Object.prototype)]
//## no-leftovers-in-function-this
//# expect: completed
//# value: [true,0]
const outer = (function () { return this })();
return [outer === globalThis, arguments.length]
//## given-globals-hold-still
//# expect: completed
//# value: []
const moved = [];
for (const name of ['tools', 'text', 'json', 'console', 'results', 'yield_control', 'ALL_TOOLS', 'API', 'MCP', 'namespaces']) {
  const kept = globalThis[name];
  try { globalThis[name] = 1 } catch {}
  try { delete globalThis[name] } catch {}
  try { Object.defineProperty(globalThis, name, {value: 2}) } catch {}
  if (globalThis[name] !== kept) moved.push(name);
}
return moved
