const words = ["pear", "fig", "apple", "kiwi", "date"];
const scores = new Map(); for (const w of words) scores.set(w, await tools.step({ k: w.length }));
const sorted = words.toSorted((a, b) => scores.get(a) - scores.get(b) || a.localeCompare(b));
await tools.step({ k: 1 });
return { sorted, spliced: words.toSpliced(1, 2, "x"), flat: [1, [2, [3, [4]]]].flat(2), at: words.at(-2), last: words.findLast((w) => w.length === 4), from: Object.fromEntries(scores) };
