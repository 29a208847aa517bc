const seen = [];
label: for (let i = 0; i < 3; i++) { for (const j of [0, 1]) { await tools.echo({}); if (i === 1) continue label; if (i === 2) break label; seen.push([i, j]) } }
try { try { await tools.fail({}) } finally { seen.push("finally") } } catch { seen.push("caught") }
switch ((await tools.echo({v: 2})).v) { case 1: seen.push("one"); case 2: seen.push("two"); case 3: seen.push("three"); break; default: seen.push("other") }
const {a, ...rest} = await tools.echo({a: 1, b: 2, c: 3}); seen.push(rest);
return seen
/*---
exec -> {"status":"completed","value":[[0,0],[0,1],"finally","caught","two","three",{"b":2,"c":3}]}
---*/
