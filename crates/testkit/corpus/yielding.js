const a = await yield_control("first");
const b = Promise.all([yield_control("x"), yield_control("y")]);
const v = tools.step({ k: 3 });
text("before");
const both = await b;
text("after");
return { a, both: both.map((r) => r.status), v: await v };
