const tag = Symbol("tag"); const shared = Symbol.for("shared");
const o = { [tag]: 1, [shared]: 2, *[Symbol.iterator]() { yield* [1, 2, 3]; }, [Symbol.toPrimitive](hint) { return hint === "number" ? 42 : "o:" + hint; } };
await tools.step({ k: 1 });
const it = o[Symbol.iterator](); it.next(); await tools.step({ k: 2 });
const helped = [1, 2, 3, 4].values().filter((x) => x % 2).map((x) => x * 2).toArray();
return { rest: [...it], same: Symbol.for("shared") === shared, n: +o, s: `${o}`, tag: o[tag], helped };
