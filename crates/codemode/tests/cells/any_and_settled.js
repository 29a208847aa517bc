const any = await Promise.any([tools.fail({}), tools.echo({v: 1})]);
const settled = await Promise.allSettled([tools.fail({}), tools.echo({v: 2})]);
let none; try { await Promise.any([tools.fail({})]) } catch (e) { none = [e.constructor.name, e.errors.length] }
return {any, settled: settled.map(s => s.status), none}
/*---
exec -> {"status":"completed","value":{"any":{"v":1},"settled":["rejected","fulfilled"],"none":["AggregateError",1]}}
---*/
