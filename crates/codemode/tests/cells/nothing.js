const x = 1
/*---
exec -> 
---*/
