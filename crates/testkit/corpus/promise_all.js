const rows = await Promise.all(Array.from({ length: 6 }, async (_, i) => ({ i, v: await tools.step({ k: i }) })));
const mixed = await Promise.all([1, tools.step({ k: 7 }), Promise.resolve("x"), { then: (r) => r("thenable") }]);
const failed = await Promise.all([tools.step({ k: 8 }), tools.step({ k: 108 }), tools.step({ k: 109 })]).catch((e) => e.message);
return { rows, mixed, failed };
