text("one"); json({two: 2}); console.log("three", {a: 1}); console.warn("four"); text(5);
return null
/*---
exec -> {"status":"completed","value":null,"output":[{"type":"text","text":"one"},{"type":"json","value":{"two":2}},{"type":"text","text":"[log] three {\"a\":1}"},{"type":"text","text":"[warn] four"},{"type":"text","text":"5"}]}
---*/
