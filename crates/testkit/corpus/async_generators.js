async function* pages(n) { for (let i = 0; i < n; i++) { const page = await tools.step({ k: i }); try { yield page * 10; } finally { text("page " + page); } } return "end"; }
const seen = [];
for await (const page of pages(5)) { seen.push(page); if (page === 30) break; }
const g = pages(2);
const all = await Promise.all([g.next(), g.next(), g.next(), g.next()]);
const t = pages(3);
await t.next();
const thrown = await t.throw(new Error("stop")).catch((e) => e.message);
return { seen, all, thrown };
