//## repeat-and-split
//# expect: failed guest_deadline memory_limit_exceeded
//# options: {"timeoutMs": 150}
return 'ab'.repeat(2e7).split('').length
//## replace-all
//# expect: failed guest_deadline memory_limit_exceeded
//# options: {"timeoutMs": 150}
const s = 'a'.repeat(5e6); for (;;) s.replaceAll('a', 'bb')
//## search-worst-case
//# expect: failed guest_deadline memory_limit_exceeded
//# options: {"timeoutMs": 150}
const s = 'a'.repeat(4e6); for (;;) s.indexOf('a'.repeat(2e6) + 'b')
//## last-index-of
//# expect: failed guest_deadline memory_limit_exceeded
//# options: {"timeoutMs": 150}
const s = 'a'.repeat(4e6); for (;;) s.lastIndexOf('b' + 'a'.repeat(2e6))
//## pad
//# expect: failed guest_deadline memory_limit_exceeded
//# options: {"timeoutMs": 150}
for (;;) 'x'.padEnd(2 ** 26, 'ab')
//## normalise
//# expect: failed guest_deadline memory_limit_exceeded
//# options: {"timeoutMs": 150}
const s = '\u0344'.repeat(1e6); for (;;) s.normalize('NFC')
//## case
//# expect: failed guest_deadline memory_limit_exceeded
//# options: {"timeoutMs": 150}
const s = '\u0130'.repeat(2e6); for (;;) s.toLowerCase()
//## compare
//# expect: failed guest_deadline
//# options: {"timeoutMs": 150}
const a = 'x'.repeat(1e7), b = 'x'.repeat(1e7); for (;;) a === b; 
//## code-points
//# expect: failed guest_deadline memory_limit_exceeded
//# options: {"timeoutMs": 150}
const s = '\u{1f600}'.repeat(1e6); for (;;) [...s]
//## encode
//# expect: failed guest_deadline memory_limit_exceeded
//# options: {"timeoutMs": 150}
const s = '\u20ac'.repeat(1e6); for (;;) encodeURIComponent(s)
//## atob
//# expect: failed guest_deadline memory_limit_exceeded
//# options: {"timeoutMs": 150}
const s = btoa('x'.repeat(3e6)); for (;;) atob(s)
//## text-encoder
//# expect: failed guest_deadline memory_limit_exceeded
//# options: {"timeoutMs": 150}
const s = 'x'.repeat(4e6); for (;;) new TextEncoder().encode(s)
//## clone
//# expect: failed guest_deadline memory_limit_exceeded
//# options: {"timeoutMs": 150}
const o = Array.from({length: 30000}, i => ({i})); for (;;) structuredClone(o)
//## url
//# expect: completed or failed guest_deadline memory_limit_exceeded guest_error stack_overflow
//# options: {"timeoutMs": 150}
for (;;) new URL('http://x/' + 'a/../'.repeat(50000))
//## concat-loop
//# expect: failed guest_deadline
//# options: {"timeoutMs": 150}
let s = ''; for (;;) { s += 'x'; if (s.length > 1e6) s = '' }
