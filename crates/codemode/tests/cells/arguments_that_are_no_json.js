const seen = [];
const cyc = {}; cyc.c = cyc;
for (const bad of [cyc, 10n, {get x() { throw new Error("getter") }}]) { try { await tools.echo(bad); seen.push("went") } catch (e) { seen.push(e.message) } }
return seen
/*---
exec -> 
---*/
