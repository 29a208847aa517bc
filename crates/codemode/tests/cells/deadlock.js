await new Promise(() => {})
/*---
exec -> 
---*/
