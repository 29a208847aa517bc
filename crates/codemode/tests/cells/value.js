return 1 + 1
/*---
exec -> {"status":"completed","value":2}
---*/
