function* count() { let i = 0; while (true) { const got = yield i++; if (got) i = got } }
async function* slow() { for (const v of [1, 2, 3]) { yield (await tools.echo({v})).v } }
const g = count(); g.next(); g.next();
await tools.echo({});
const out = [g.next().value, g.next(10).value];
for await (const v of slow()) out.push(v);
return out
/*---
exec -> {"status":"completed","value":[2,10,1,2,3]}
---*/
