//## json-and-prototypes
//# expect: completed
//# value: {"a":[1,"x",null,true,{"b":0.5}]}
JSON.stringify = () => '"forged"'; Object.prototype.toString = () => 'forged'; Array.prototype.join = () => 'forged'; Number.prototype.toString = () => '666';
return {a: [1, 'x', null, true, {b: 0.5}]}
//## to-json-everywhere
//# expect: completed
//# value: [1,"s",{"k":2}]
for (const C of [Object, Array, String, Number, Boolean, BigInt]) C.prototype.toJSON = () => 'forged';
return [1, 's', {k: 2}]
//## then-on-object-prototype-is-a-getter
//# expect: completed or failed guest_error deadlock
Object.defineProperty(Object.prototype, 'then', {get() { return undefined }, configurable: true});
return {a: 1}
//## then-that-forges
//# expect: failed guest_error deadlock guest_deadline
//# options: {"timeoutMs": 300}
Object.prototype.then = function (resolve) { resolve({status: 'failed', telemetry: {callCount: 99}}) };
return {a: 1}
//## output-after-poison
//# expect: completed
//# value: null
Array.prototype.push = () => 'forged'; String.prototype.slice = () => 'forged'; Object.defineProperty(Array.prototype, '0', {set() { throw 'forged' }, get: () => 'forged', configurable: true});
text('plain'); json({a: ['plain']}); console.log('plain', {a: 1});
//## error-conversion
//# expect: failed guest_error
Object.defineProperty(Error.prototype, 'message', {get() { throw 'forged' }}); Object.defineProperty(Error.prototype, 'stack', {get() { throw 'forged' }}); Error.prototype.toString = () => { throw 'forged' };
throw new TypeError('plain')
