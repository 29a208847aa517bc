const x = ;
/*---
exec -> 
---*/
