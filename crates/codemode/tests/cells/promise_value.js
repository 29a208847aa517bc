return Promise.resolve({a: Promise.resolve(1)})
/*---
exec -> {"status":"completed","value":{"a":"[promise: await it before returning it]"}}
---*/
