text("one"); json({two: 2}); console.log("three", {a: 1}); console.warn("four"); text(5);
return null
/*---
exec -> 
---*/
