throw {code: 1}
/*---
exec -> 
---*/
