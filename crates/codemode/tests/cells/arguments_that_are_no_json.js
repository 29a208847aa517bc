const seen = [];
const cyc = {}; cyc.c = cyc;
for (const bad of [cyc, 10n, {get x() { throw new Error("getter") }}]) { try { await tools.echo(bad); seen.push("went") } catch (e) { seen.push(e.message) } }
return seen
/*---
exec -> {"status":"completed","value":["the arguments contain a cycle, which cannot be sent as JSON","`echo` was not called: its arguments do not fit.\n- input must be an object, not the string \"10\"\nExpected: echo({})","the arguments contain an accessor property; pass a plain value, which cannot be sent as JSON"]}
---*/
