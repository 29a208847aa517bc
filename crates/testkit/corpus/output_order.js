text("one"); json({ two: 2 }); console.log("three", { a: [1, "x"] }); console.error("four");
await tools.step({ k: 1 });
text(5); json([6]);
const p = tools.step({ k: 2 }).then((v) => text("detached " + v));
await tools.step({ k: 3 });
text("last");
return null;
