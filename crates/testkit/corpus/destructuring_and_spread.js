const { a, b: { c = await tools.step({ k: 4 }) } = {}, ...rest } = { a: await tools.step({ k: 1 }), d: 4, e: 5 };
const [x, , y = await tools.step({ k: 2 }), ...zs] = [1, 2, undefined, 3, 4];
const f = async (p = 1, { q } = {}, ...r) => [p, q, r, await tools.step({ k: 3 })];
return { a, c, rest, x, y, zs, f: await f(undefined, { q: 2 }, 3, 4), o: { ...rest, ...{ z: 1 } } };
