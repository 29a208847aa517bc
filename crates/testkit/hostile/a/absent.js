//## names
//# expect: completed
//# value: []
return ['process', 'require', 'module', 'exports', 'Buffer', 'fetch', 'XMLHttpRequest', 'WebSocket', 'Worker', 'SharedArrayBuffer',
  'Atomics', 'WebAssembly', 'std', 'os', 'eval', 'print', 'scriptArgs', 'Deno', 'Bun', 'global', 'window', 'self', 'document',
  'importScripts', 'queueMicrotask', 'setInterval', 'setImmediate', 'gc', 'load', 'read', 'readFile', 'quit', 'performance.memory',
  'bjson', '__dirname', '__filename', 'navigator', 'localStorage', 'indexedDB', 'Realm', 'ShadowRealm', 'NodeJS', 'java', 'Packages', '$262']
  .filter(name => name in globalThis)
//## by-bare-name
//# expect: completed
//# value: ["undefined","undefined","undefined","undefined","undefined"]
return [typeof process, typeof Buffer, typeof WebAssembly, typeof SharedArrayBuffer, typeof Atomics]
//## using-one-is-an-ordinary-error
//# expect: failed guest_error
process.exit(1)
//## through-constructors
//# expect: completed
//# value: []
const seen = new Set(), open = [globalThis, tools, text, console, results], bad = [];
while (open.length) {
  const at = open.pop();
  if (seen.has(at) || (typeof at !== 'object' && typeof at !== 'function') || at === null) continue;
  seen.add(at);
  let keys = []; try { keys = Reflect.ownKeys(at) } catch { continue }
  for (const key of keys) {
    if (/^(mainModule|binding|dlopen|env|argv|open|popen|exec|loadFile|evalScript|loadScript|writeFile|getenv|setenv|urlGet)$/.test(String(key)) && at !== RegExp.prototype && at !== tools) bad.push(String(key));
    try { const d = Reflect.getOwnPropertyDescriptor(at, key); open.push(d.value, d.get, d.set) } catch {}
  }
  open.push(Object.getPrototypeOf(at));
}
return bad
//## shared-memory-by-structured-clone
//# expect: completed
//# value: "undefined"
const copy = structuredClone(new Uint8Array(8));
return typeof copy.buffer.constructor.prototype.shared
