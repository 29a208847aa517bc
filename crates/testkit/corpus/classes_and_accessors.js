class Base { static count = 0; static { Base.count = 10; } name = "base"; get label() { return this.name + "!"; } set label(v) { this.name = v; } async load(k) { return [this.label, await tools.step({ k })]; } }
class Child extends Base { name = "child"; async load(k) { const r = await super.load(k); return ["child", ...r]; } static create() { return new this(); } }
const c = Child.create(); const first = await c.load(1); c.label = "renamed"; const second = await c.load(2);
const o = { __proto__: { inherited: 1 }, own: await tools.step({ k: 3 }) };
return { first, second, count: Child.count, is: c instanceof Base, inherited: o.inherited, own: Object.keys(o) };
