const seen = [];
const p = new Proxy({ a: 1 }, { get(t, k, r) { seen.push("get " + String(k)); return Reflect.get(t, k, r); }, has(t, k) { seen.push("has " + String(k)); return k in t; }, set(t, k, v) { seen.push("set " + String(k)); t[k] = v; return true; }, ownKeys(t) { return [...Reflect.ownKeys(t), "ghost"]; }, getOwnPropertyDescriptor(t, k) { return { value: t[k] ?? "boo", enumerable: true, configurable: true }; } });
p.b = await tools.step({ k: 2 });
const has = "a" in p; const sum = p.a + p.b; await tools.step({ k: 3 });
const { proxy, revoke } = Proxy.revocable({}, {}); revoke();
let gone; try { proxy.x; } catch (e) { gone = e.constructor.name; }
return { has, sum, keys: Object.keys(p), seen, gone };
