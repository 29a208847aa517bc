//## proto-and-constructor
//# expect: completed
//# value: []
const bad = [];
for (const name of ['__proto__', 'constructor', 'prototype', 'hasOwnProperty', 'toString', 'valueOf', '__defineGetter__', 'then', 'toJSON', 'inspect']) {
  try { const r = await tools.call(name, {}); bad.push([name, r]) } catch {}
  if (['then', 'toJSON'].includes(name) && tools[name] !== undefined) bad.push(name);
}
return bad
//## awaiting-the-objects-themselves
//# expect: completed
//# value: [true,true,true]
return [await tools === tools, await MCP === MCP, await API === API]
//## mcp-paths
//# expect: completed
//# value: []
const bad = [];
for (const path of [['__proto__', 'x'], ['constructor', 'constructor'], ['gitHub', '__proto__'], ['gitHub', 'constructor'], ['gitHub', 'then'], ['git-hub', 'list_issues'], ['gitHub', 'nope']]) {
  try { const f = MCP[path[0]]?.[path[1]]; if (typeof f === 'function' && f !== Object && f !== Object.prototype.constructor && !Object.prototype[path[1]]) { const r = await f({}); bad.push([path, typeof r]) } } catch {}
}
return bad
//## files-of-the-api
//# expect: completed
//# value: ["refused","refused","refused","refused","refused","refused","refused"]
const seen = [];
for (const path of ['/etc/passwd', '../mcp/index.d.ts', 'mcp/../../etc/passwd', 'mcp/./index.d.ts', 'mcp/index.d.ts\u0000.txt', 'file:///etc/passwd', 'mcp//index.d.ts']) try { await API.read(path); seen.push(path) } catch { seen.push('refused') }
return seen
//## namespaces
//# expect: completed
//# value: ["undefined","undefined"]
return [typeof namespaces.__proto__.call, typeof namespaces.nope]
