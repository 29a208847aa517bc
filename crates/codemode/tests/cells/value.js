return 1 + 1
/*---
exec -> 
---*/
