const a = Date.now(), b = performance.now(); await tools.echo({});
return [Date.now() >= a, performance.now() >= b, new Date(0).getTimezoneOffset(), typeof crypto.randomUUID()]
/*---
exec -> {"status":"completed","value":[true,true,0,"string"]}
---*/
