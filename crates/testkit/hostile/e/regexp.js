//## nested-quantifier
//# expect: failed guest_deadline
//# options: {"timeoutMs": 150}
return /(a+)+$/.test('a'.repeat(40) + 'b')
//## alternation
//# expect: failed guest_deadline
//# options: {"timeoutMs": 150}
return /^(a|a)*$/.test('a'.repeat(40) + 'b')
//## backreference
//# expect: completed or failed guest_deadline memory_limit_exceeded guest_error stack_overflow
//# options: {"timeoutMs": 150}
return /(.*)*\1x/.test('ab'.repeat(200))
//## lookahead
//# expect: failed guest_deadline
//# options: {"timeoutMs": 150}
return /^(?=(a+)+b)a/.test('a'.repeat(40))
//## lookbehind
//# expect: completed or failed guest_deadline memory_limit_exceeded guest_error stack_overflow
//# options: {"timeoutMs": 150}
return /(?<=(a+)+)c$/.test('a'.repeat(5000) + 'b')
//## replace-global
//# expect: completed or failed guest_deadline memory_limit_exceeded guest_error stack_overflow
//# options: {"timeoutMs": 150}
return 'a'.repeat(30000).replace(/a*b/g, '')
//## match-all
//# expect: completed or failed guest_deadline memory_limit_exceeded guest_error stack_overflow
//# options: {"timeoutMs": 150}
return [...('ab'.repeat(1e5)).matchAll(/(?:a?b?)*c|/g)].length
//## split
//# expect: completed or failed guest_deadline memory_limit_exceeded guest_error stack_overflow
//# options: {"timeoutMs": 150}
return 'a'.repeat(50000).split(/(a*)*b/).length
//## sticky-forever
//# expect: failed guest_deadline
//# options: {"timeoutMs": 150}
const r = /(?:)/y; for (;;) r.exec('')
//## unicode-case
//# expect: completed or failed guest_deadline memory_limit_exceeded guest_error stack_overflow
//# options: {"timeoutMs": 150}
return /^(\u{10ffff}|[^x])*?y$/iu.test('\u{1f600}'.repeat(40000))
//## named-groups
//# expect: failed guest_deadline
//# options: {"timeoutMs": 150}
return /^(?<a>(?<b>x+)+)+y$/.test('x'.repeat(40))
//## huge-count
//# expect: completed or failed guest_deadline memory_limit_exceeded guest_error stack_overflow
//# options: {"timeoutMs": 150}
return /(?:a{1,1000}){1,1000}b/.test('a'.repeat(5000))
