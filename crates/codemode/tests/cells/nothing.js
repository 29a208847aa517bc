const x = 1
/*---
exec -> {"status":"completed","value":null}
---*/
