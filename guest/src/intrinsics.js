// Evaluated once, before any user code: the functions that the plumbing keeps, in the order of `Kept`,
// then one sample of each class that it must recognise, in the order of `SAMPLES`.
(() => {
  const getter = (object, key) => Object.getOwnPropertyDescriptor(object, key).get;
  const kept = [
    getter(Error.prototype, 'stack'),
    Map.prototype.forEach,
    Set.prototype.forEach,
    Date.prototype.getTime,
    getter(RegExp.prototype, 'source'),
    Number.prototype.valueOf,
    String.prototype.valueOf,
    Boolean.prototype.valueOf,
    BigInt.prototype.valueOf,
    EvalError.prototype,
    new WeakMap(),
    WeakMap.prototype.set,
    WeakMap.prototype.get,
    Function.prototype.toString,
  ];
  const flags = ['hasIndices', 'global', 'ignoreCase', 'multiline', 'dotAll', 'unicode', 'unicodeSets', 'sticky']
    .map((name) => getter(RegExp.prototype, name));
  const buffer = new ArrayBuffer(8);
  const samples = [
    {}, [], new Error(), new Number(0), new String(''), new Boolean(false), Object(1n), new Date(0), /x/,
    new Map(), new Set(), buffer, Promise.resolve(), new Proxy({}, {}),
    new Int8Array(buffer), new Uint8Array(buffer), new Uint8ClampedArray(buffer), new Int16Array(buffer),
    new Uint16Array(buffer), new Int32Array(buffer), new Uint32Array(buffer), new BigInt64Array(buffer),
    new BigUint64Array(buffer), new Float16Array(buffer), new Float32Array(buffer), new Float64Array(buffer),
    new DataView(buffer), new WeakMap(), new WeakSet(), new WeakRef({}),
    new FinalizationRegistry(() => {}), Object(Symbol()),
  ];
  return [kept, flags, samples];
})()
