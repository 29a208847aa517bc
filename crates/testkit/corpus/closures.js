const counter = (() => { let n = 0; return { up: (by) => (n += by), get value() { return n; } }; })();
for (let i = 0; i < 3; i++) counter.up(await tools.step({ k: i }));
const later = [];
for (let i = 0; i < 3; i++) later.push(async () => [i, await tools.step({ k: 10 + i }), counter.value]);
const seen = [];
for (const f of later) seen.push(await f());
return { value: counter.value, seen };
