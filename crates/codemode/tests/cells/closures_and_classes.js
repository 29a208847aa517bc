class Counter { #n = 0; static made = 0; constructor() { Counter.made++ } bump() { return ++this.#n } get n() { return this.#n } }
const c = new Counter(); const add = k => x => x + k; const add5 = add(5);
c.bump(); await tools.echo({}); c.bump(); const m = new Map([[c, "kept"]]); const w = new WeakMap([[c, "weak"]]);
await tools.echo({});
return [c.n, Counter.made, add5(1), m.get(c), w.get(c)]
/*---
exec -> {"status":"completed","value":[2,1,6,"kept","weak"]}
---*/
