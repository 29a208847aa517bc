const tag = (s, ...v) => s.raw.join("|") + v.join(","); const calls = new Set();
const t = (s) => { calls.add(s); return s; };
for (let i = 0; i < 2; i++) { t`same site`; await tools.step({ k: i }); }
outer: while (true) { switch (await tools.step({ k: 5 })) { case 4: break; case 5: break outer; } }
return { raw: tag`a\n${1}b${2}`, sites: calls.size, comma: (1, 2), exp: 2 ** 3 ** 2, nullish: null ?? "n", chain: undefined?.x?.y ?? "c" };
