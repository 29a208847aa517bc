//## assigned
//# expect: completed
//# value: {"n":1}
try { tools = {echo: () => 'forged'} } catch {} try { globalThis.text = () => 'forged' } catch {} try { tools.echo = () => 'forged' } catch {} try { tools.call = () => 'forged' } catch {}
return await tools.echo({n: 1})
//## defined
//# expect: completed
//# value: {"n":2}
for (const [o, k] of [[globalThis, 'tools'], [globalThis, 'text'], [globalThis, 'MCP'], [tools, 'echo'], [tools, 'call']]) try { Object.defineProperty(o, k, {value: () => 'forged', configurable: true}) } catch {}
return await tools.call('echo', {n: 2})
//## frozen
//# expect: completed
//# value: {"n":3}
Object.freeze(globalThis); for (const k of Object.getOwnPropertyNames(globalThis)) { try { Object.freeze(globalThis[k]); Object.freeze(globalThis[k].prototype) } catch {} }
text('still'); return await tools.echo({n: 3})
//## sealed-promises
//# expect: completed
//# value: {"n":4}
Object.preventExtensions(Promise.prototype); Object.seal(Promise); Object.freeze(Object.prototype); Object.freeze(Array.prototype);
return await tools.echo({n: 4})
//## proxied
//# expect: completed
//# value: {"n":5}
const p = new Proxy(tools, {get(t, k, r) { return Reflect.get(t, k) }}); return await p.echo({n: 5})
//## shadowed
//# expect: completed
//# value: "mine"
const tools = {echo: () => 'mine'}, text = 1; return await tools.echo({})
//## prototype-of-tools
//# expect: completed
//# value: {"n":6}
try { Object.setPrototypeOf(tools, {echo: () => 'forged'}) } catch {} try { tools.__proto__ = {echo: () => 'forged'} } catch {}
return await tools.echo({n: 6})
//## deleted
//# expect: completed
//# value: {"n":7}
try { delete globalThis.tools } catch {} for (const k of Object.keys(tools)) try { delete tools[k] } catch {} delete globalThis.Promise; delete globalThis.JSON; delete globalThis.Object;
return await tools.echo({n: 7})
