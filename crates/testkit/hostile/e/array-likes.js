//## concat
//# expect: completed or failed guest_deadline memory_limit_exceeded guest_error stack_overflow
//# options: {"timeoutMs": 150}
const like = {length: 2 ** 53 - 1, 5: 1, [Symbol.isConcatSpreadable]: true}; const r = Array.prototype.concat.call(like, like); return typeof r
//## copywithin
//# expect: completed or failed guest_deadline memory_limit_exceeded guest_error stack_overflow
//# options: {"timeoutMs": 150}
const like = {length: 2 ** 53 - 1, 5: 1, [Symbol.isConcatSpreadable]: true}; const r = Array.prototype.copyWithin.call(like, 1, 0); return typeof r
//## every
//# expect: completed or failed guest_deadline memory_limit_exceeded guest_error stack_overflow
//# options: {"timeoutMs": 150}
const like = {length: 2 ** 53 - 1, 5: 1, [Symbol.isConcatSpreadable]: true}; const r = Array.prototype.every.call(like, () => true); return typeof r
//## fill
//# expect: completed or failed guest_deadline memory_limit_exceeded guest_error stack_overflow
//# options: {"timeoutMs": 150}
const like = {length: 2 ** 53 - 1, 5: 1, [Symbol.isConcatSpreadable]: true}; const r = Array.prototype.fill.call(like, 1); return typeof r
//## filter
//# expect: completed or failed guest_deadline memory_limit_exceeded guest_error stack_overflow
//# options: {"timeoutMs": 150}
const like = {length: 2 ** 53 - 1, 5: 1, [Symbol.isConcatSpreadable]: true}; const r = Array.prototype.filter.call(like, (a, b) => false); return typeof r
//## find
//# expect: completed or failed guest_deadline memory_limit_exceeded guest_error stack_overflow
//# options: {"timeoutMs": 150}
const like = {length: 2 ** 53 - 1, 5: 1, [Symbol.isConcatSpreadable]: true}; const r = Array.prototype.find.call(like, (a, b) => false); return typeof r
//## findlast
//# expect: completed or failed guest_deadline memory_limit_exceeded guest_error stack_overflow
//# options: {"timeoutMs": 150}
const like = {length: 2 ** 53 - 1, 5: 1, [Symbol.isConcatSpreadable]: true}; const r = Array.prototype.findLast.call(like, (a, b) => false); return typeof r
//## findindex
//# expect: completed or failed guest_deadline memory_limit_exceeded guest_error stack_overflow
//# options: {"timeoutMs": 150}
const like = {length: 2 ** 53 - 1, 5: 1, [Symbol.isConcatSpreadable]: true}; const r = Array.prototype.findIndex.call(like, (a, b) => false); return typeof r
//## findlastindex
//# expect: completed or failed guest_deadline memory_limit_exceeded guest_error stack_overflow
//# options: {"timeoutMs": 150}
const like = {length: 2 ** 53 - 1, 5: 1, [Symbol.isConcatSpreadable]: true}; const r = Array.prototype.findLastIndex.call(like, (a, b) => false); return typeof r
//## flat
//# expect: completed or failed guest_deadline memory_limit_exceeded guest_error stack_overflow
//# options: {"timeoutMs": 150}
const like = {length: 2 ** 53 - 1, 5: 1, [Symbol.isConcatSpreadable]: true}; const r = Array.prototype.flat.call(like, ); return typeof r
//## flatmap
//# expect: completed or failed guest_deadline memory_limit_exceeded guest_error stack_overflow
//# options: {"timeoutMs": 150}
const like = {length: 2 ** 53 - 1, 5: 1, [Symbol.isConcatSpreadable]: true}; const r = Array.prototype.flatMap.call(like, (a, b) => false); return typeof r
//## foreach
//# expect: completed or failed guest_deadline memory_limit_exceeded guest_error stack_overflow
//# options: {"timeoutMs": 150}
const like = {length: 2 ** 53 - 1, 5: 1, [Symbol.isConcatSpreadable]: true}; const r = Array.prototype.forEach.call(like, (a, b) => false); return typeof r
//## includes
//# expect: completed or failed guest_deadline memory_limit_exceeded guest_error stack_overflow
//# options: {"timeoutMs": 150}
const like = {length: 2 ** 53 - 1, 5: 1, [Symbol.isConcatSpreadable]: true}; const r = Array.prototype.includes.call(like, 2); return typeof r
//## indexof
//# expect: completed or failed guest_deadline memory_limit_exceeded guest_error stack_overflow
//# options: {"timeoutMs": 150}
const like = {length: 2 ** 53 - 1, 5: 1, [Symbol.isConcatSpreadable]: true}; const r = Array.prototype.indexOf.call(like, 2); return typeof r
//## join
//# expect: completed or failed guest_deadline memory_limit_exceeded guest_error stack_overflow
//# options: {"timeoutMs": 150}
const like = {length: 2 ** 53 - 1, 5: 1, [Symbol.isConcatSpreadable]: true}; const r = Array.prototype.join.call(like, ','); return typeof r
//## lastindexof
//# expect: completed or failed guest_deadline memory_limit_exceeded guest_error stack_overflow
//# options: {"timeoutMs": 150}
const like = {length: 2 ** 53 - 1, 5: 1, [Symbol.isConcatSpreadable]: true}; const r = Array.prototype.lastIndexOf.call(like, 2); return typeof r
//## map
//# expect: completed or failed guest_deadline memory_limit_exceeded guest_error stack_overflow
//# options: {"timeoutMs": 150}
const like = {length: 2 ** 53 - 1, 5: 1, [Symbol.isConcatSpreadable]: true}; const r = Array.prototype.map.call(like, (a, b) => false); return typeof r
//## reduce
//# expect: completed or failed guest_deadline memory_limit_exceeded guest_error stack_overflow
//# options: {"timeoutMs": 150}
const like = {length: 2 ** 53 - 1, 5: 1, [Symbol.isConcatSpreadable]: true}; const r = Array.prototype.reduce.call(like, (a, b) => false); return typeof r
//## reduceright
//# expect: completed or failed guest_deadline memory_limit_exceeded guest_error stack_overflow
//# options: {"timeoutMs": 150}
const like = {length: 2 ** 53 - 1, 5: 1, [Symbol.isConcatSpreadable]: true}; const r = Array.prototype.reduceRight.call(like, (a, b) => false); return typeof r
//## reverse
//# expect: completed or failed guest_deadline memory_limit_exceeded guest_error stack_overflow
//# options: {"timeoutMs": 150}
const like = {length: 2 ** 53 - 1, 5: 1, [Symbol.isConcatSpreadable]: true}; const r = Array.prototype.reverse.call(like, ); return typeof r
//## slice
//# expect: completed or failed guest_deadline memory_limit_exceeded guest_error stack_overflow
//# options: {"timeoutMs": 150}
const like = {length: 2 ** 53 - 1, 5: 1, [Symbol.isConcatSpreadable]: true}; const r = Array.prototype.slice.call(like, ); return typeof r
//## some
//# expect: completed or failed guest_deadline memory_limit_exceeded guest_error stack_overflow
//# options: {"timeoutMs": 150}
const like = {length: 2 ** 53 - 1, 5: 1, [Symbol.isConcatSpreadable]: true}; const r = Array.prototype.some.call(like, (a, b) => false); return typeof r
//## sort
//# expect: completed or failed guest_deadline memory_limit_exceeded guest_error stack_overflow
//# options: {"timeoutMs": 150}
const like = {length: 2 ** 53 - 1, 5: 1, [Symbol.isConcatSpreadable]: true}; const r = Array.prototype.sort.call(like, ); return typeof r
//## splice
//# expect: completed or failed guest_deadline memory_limit_exceeded guest_error stack_overflow
//# options: {"timeoutMs": 150}
const like = {length: 2 ** 53 - 1, 5: 1, [Symbol.isConcatSpreadable]: true}; const r = Array.prototype.splice.call(like, 0, 1); return typeof r
//## toreversed
//# expect: completed or failed guest_deadline memory_limit_exceeded guest_error stack_overflow
//# options: {"timeoutMs": 150}
const like = {length: 2 ** 53 - 1, 5: 1, [Symbol.isConcatSpreadable]: true}; const r = Array.prototype.toReversed.call(like, ); return typeof r
//## tosorted
//# expect: completed or failed guest_deadline memory_limit_exceeded guest_error stack_overflow
//# options: {"timeoutMs": 150}
const like = {length: 2 ** 53 - 1, 5: 1, [Symbol.isConcatSpreadable]: true}; const r = Array.prototype.toSorted.call(like, ); return typeof r
//## tospliced
//# expect: completed or failed guest_deadline memory_limit_exceeded guest_error stack_overflow
//# options: {"timeoutMs": 150}
const like = {length: 2 ** 53 - 1, 5: 1, [Symbol.isConcatSpreadable]: true}; const r = Array.prototype.toSpliced.call(like, 0, 1); return typeof r
//## unshift
//# expect: completed or failed guest_deadline memory_limit_exceeded guest_error stack_overflow
//# options: {"timeoutMs": 150}
const like = {length: 2 ** 53 - 1, 5: 1, [Symbol.isConcatSpreadable]: true}; const r = Array.prototype.unshift.call(like, 1); return typeof r
//## with
//# expect: completed or failed guest_deadline memory_limit_exceeded guest_error stack_overflow
//# options: {"timeoutMs": 150}
const like = {length: 2 ** 53 - 1, 5: 1, [Symbol.isConcatSpreadable]: true}; const r = Array.prototype.with.call(like, 0, 1); return typeof r
//## at
//# expect: completed or failed guest_deadline memory_limit_exceeded guest_error stack_overflow
//# options: {"timeoutMs": 150}
const like = {length: 2 ** 53 - 1, 5: 1, [Symbol.isConcatSpreadable]: true}; const r = Array.prototype.at.call(like, 1); return typeof r
//## entries
//# expect: completed or failed guest_deadline memory_limit_exceeded guest_error stack_overflow
//# options: {"timeoutMs": 150}
const like = {length: 2 ** 53 - 1, 5: 1, [Symbol.isConcatSpreadable]: true}; const r = Array.prototype.entries.call(like, ); return typeof r
//## array-from
//# expect: completed or failed guest_deadline memory_limit_exceeded guest_error stack_overflow
//# options: {"timeoutMs": 150}
return Array.from({length: 2 ** 53 - 1}).length
//## apply
//# expect: completed or failed guest_deadline memory_limit_exceeded guest_error stack_overflow
//# options: {"timeoutMs": 150}
return Math.max.apply(null, {length: 2 ** 32})
//## reflect-construct
//# expect: completed or failed guest_deadline memory_limit_exceeded guest_error stack_overflow
//# options: {"timeoutMs": 150}
return Reflect.construct(Array, {length: 2 ** 31})
//## typed-array-of-it
//# expect: completed or failed guest_deadline memory_limit_exceeded guest_error stack_overflow
//# options: {"timeoutMs": 150}
return new Uint8Array({length: 2 ** 53 - 1}).length
//## set-methods
//# expect: completed or failed guest_deadline memory_limit_exceeded guest_error stack_overflow
//# options: {"timeoutMs": 150}
return new Set([1]).union({size: Infinity, has: () => true, keys: function* () { for (;;) yield 1 }}).size
//## typed-array-set
//# expect: completed or failed guest_deadline memory_limit_exceeded guest_error stack_overflow
//# options: {"timeoutMs": 150}
for (;;) new Uint8Array(1e7).set({length: 1e7})
//## string-raw
//# expect: completed or failed guest_deadline memory_limit_exceeded guest_error stack_overflow
//# options: {"timeoutMs": 150}
return String.raw({raw: {length: 2 ** 53 - 1}}).length
//## map-group-by
//# expect: completed or failed guest_deadline memory_limit_exceeded guest_error stack_overflow
//# options: {"timeoutMs": 150}
return Map.groupBy({[Symbol.iterator]() { return {next: () => ({value: 1, done: false})} }}, x => x).size
//## array-from-async
//# expect: completed or failed guest_deadline memory_limit_exceeded guest_error stack_overflow
//# options: {"timeoutMs": 150}
return (await Array.fromAsync({length: 2 ** 53 - 1})).length
