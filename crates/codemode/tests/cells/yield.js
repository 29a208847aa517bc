let n = 1;
const back = await yield_control("because");
n += 1;
return {n, back}
/*---
exec -> 
wait -> 
---*/
