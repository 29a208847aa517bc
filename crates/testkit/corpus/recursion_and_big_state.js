const fib = async (n) => (n < 2 ? tools.step({ k: n }) : (await fib(n - 1)) + (await fib(n - 2)));
const rows = Array.from({ length: 2000 }, (_, i) => ({ id: i, name: "row " + i, tags: [i % 3, i % 5] }));
const f = await fib(5);
const grouped = Object.groupBy(rows, (r) => r.tags[0]);
await tools.step({ k: 9 });
return { f, counts: Object.values(grouped).map((g) => g.length), last: rows.at(-1), sum: rows.reduce((s, r) => s + r.id, 0) };
