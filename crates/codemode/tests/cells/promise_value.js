return Promise.resolve({a: Promise.resolve(1)})
/*---
exec -> 
---*/
