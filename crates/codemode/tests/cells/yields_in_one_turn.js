const [a, b] = await Promise.all([yield_control("a"), yield_control("b")]);
text("after"); return [a, b]
/*---
exec -> 
wait -> 
---*/
