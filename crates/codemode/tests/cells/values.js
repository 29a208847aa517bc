const cycle = {}; cycle.self = cycle;
return {u: undefined, f: () => 1, s: Symbol("x"), big: 10n, map: new Map([[1, {a: 2}]]), set: new Set([1, 2]),
  date: new Date(0), error: Object.assign(new TypeError("bad"), {extra: 1}), promise: Promise.resolve(1), cycle,
  nan: NaN, inf: -Infinity, zero: -0, sparse: [1, , 3], proto: JSON.parse("{\"__proto__\": 1}")}
/*---
exec -> 
---*/
