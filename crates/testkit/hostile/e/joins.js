//## array-to-text
//# expect: completed or failed guest_deadline memory_limit_exceeded guest_error stack_overflow
//# options: {"timeoutMs": 150}
return (new Array(1e9) + '').length
//## fill-and-join
//# expect: completed or failed guest_deadline memory_limit_exceeded guest_error stack_overflow
//# options: {"timeoutMs": 150}
return new Array(3e7).fill('ab').join('').length
//## nested-join
//# expect: completed or failed guest_deadline memory_limit_exceeded guest_error stack_overflow
//# options: {"timeoutMs": 150}
const a = new Array(3000).fill(new Array(3000).fill('x')); return String(a).length
//## join-with-separator
//# expect: completed or failed guest_deadline memory_limit_exceeded guest_error stack_overflow
//# options: {"timeoutMs": 150}
return Array(2 ** 25).join('abcdefgh').length
//## to-locale
//# expect: completed or failed guest_deadline memory_limit_exceeded guest_error stack_overflow
//# options: {"timeoutMs": 150}
return new Array(1e8).toLocaleString().length
//## typed-array-join
//# expect: completed or failed guest_deadline memory_limit_exceeded guest_error stack_overflow
//# options: {"timeoutMs": 150}
for (;;) new Uint8Array(5e6).join('-')
