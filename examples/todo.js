const hits = await tools.grep({ pattern: "TODO", path: "." });
const files = [...new Set(hits.matches.map((m) => m.path))];
const texts = await Promise.all(files.map((p) => tools.read({ path: p })));
return files.map((p, i) => ({ p, lines: texts[i].totalLines }));
