text("before"); await yield_control(); text("between"); await yield_control(); text("last"); return 1
/*---
exec -> 
wait -> 
wait -> 
---*/
