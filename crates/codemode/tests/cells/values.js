const cycle = {}; cycle.self = cycle;
return {u: undefined, f: () => 1, s: Symbol("x"), big: 10n, map: new Map([[1, {a: 2}]]), set: new Set([1, 2]),
  date: new Date(0), error: Object.assign(new TypeError("bad"), {extra: 1}), promise: Promise.resolve(1), cycle,
  nan: NaN, inf: -Infinity, zero: -0, sparse: [1, , 3], proto: JSON.parse("{\"__proto__\": 1}")}
/*---
exec -> {"status":"completed","value":{"u":null,"f":null,"s":null,"big":"10","map":[[1,{"a":2}]],"set":[1,2],"date":"1970-01-01T00:00:00.000Z","error":{"name":"TypeError","message":"bad","extra":1},"promise":"[promise: await it before returning it]","cycle":{"self":"[cycle: an object that contains itself]"},"nan":null,"inf":null,"zero":0,"sparse":[1,null,3],"proto":{"__proto__":1}}}
---*/
