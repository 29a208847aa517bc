const a = tools.step({ k: 3 }), b = tools.step({ k: 1 }), c = tools.step({ k: 102 });
const won = await Promise.race([a, b, c]).catch((e) => "lost " + e.message);
const any = await Promise.any([c, a, b]);
const none = await Promise.any([tools.step({ k: 103 }), tools.step({ k: 104 })]).catch((e) => [e.constructor.name, e.errors.map((x) => x.message)]);
const settled = await Promise.allSettled([a, c, tools.step({ k: 5 })]);
return { won, any, none, settled: settled.map((s) => [s.status, s.value ?? s.reason.message]) };
