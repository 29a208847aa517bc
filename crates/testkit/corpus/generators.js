function* walk(tree) { if (!tree) return 0; const l = yield* walk(tree[0]); const got = yield tree[1]; const r = yield* walk(tree[2]); return l + r + (got ?? 1); }
const g = walk([[null, "a", [null, "b", null]], "c", [null, "d", null]]);
const out = [];
let step = g.next();
while (!step.done) { out.push(step.value); step = g.next(await tools.step({ k: out.length })); }
const h = (function* () { try { yield 1; yield 2; } finally { out.push("cleanup"); yield 3; } })();
h.next();
await tools.step({ k: 9 });
out.push(h.return("gone").value, h.next().value);
return { out, total: step.value };
