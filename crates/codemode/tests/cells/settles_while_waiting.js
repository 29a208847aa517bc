const p = tools.hold({key: "a"});
await yield_control("started");
return await p
/*---
exec -> 
called hold a
release a
called hold a done
wait -> 
---*/
