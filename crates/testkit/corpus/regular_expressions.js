const re = /(?<word>\p{L}+)-(\d+)/gu; const out = [];
const text1 = "één-1 zwei-22 tři-333";
let m; while ((m = re.exec(text1))) { out.push([m.groups.word, m[2], re.lastIndex]); await tools.step({ k: out.length }); }
const sticky = /a/y; sticky.lastIndex = 1; const s1 = sticky.test("ba"); await tools.step({ k: 8 }); const s2 = sticky.test("ba");
const all = [..."a1b2".matchAll(/[a-z](\d)/g)].map((x) => x[1]);
const replaced = "x.y.z".replace(/\.(.)/g, (_, c) => c.toUpperCase());
return { out, s1, s2, all, replaced, split: "a, b;c".split(/[,;]\s*/) };
