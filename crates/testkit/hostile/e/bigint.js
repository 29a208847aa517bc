//## power
//# expect: completed or failed guest_deadline memory_limit_exceeded guest_error stack_overflow
//# options: {"timeoutMs": 150}
return String(7n ** (7n ** 9n)).length
//## product
//# expect: completed or failed guest_deadline memory_limit_exceeded guest_error stack_overflow
//# options: {"timeoutMs": 150}
let a = 3n; for (;;) a = a * a
//## division
//# expect: failed guest_deadline
//# options: {"timeoutMs": 150}
const a = 7n ** 300000n, b = 3n ** 200000n; for (;;) a / b
//## parse
//# expect: completed or failed guest_deadline memory_limit_exceeded guest_error stack_overflow
//# options: {"timeoutMs": 150}
for (;;) BigInt('9'.repeat(300000))
//## print
//# expect: completed or failed guest_deadline memory_limit_exceeded guest_error stack_overflow
//# options: {"timeoutMs": 150}
const a = 1n << 3000000n; for (;;) String(a)
//## print-in-base-3
//# expect: completed or failed guest_deadline memory_limit_exceeded guest_error stack_overflow
//# options: {"timeoutMs": 150}
const a = 1n << 1000000n; for (;;) a.toString(3)
//## shift
//# expect: completed or failed guest_deadline memory_limit_exceeded guest_error stack_overflow
//# options: {"timeoutMs": 150}
return (1n << (1n << 40n)).toString().length
//## as-int-n
//# expect: completed or failed guest_deadline memory_limit_exceeded guest_error stack_overflow
//# options: {"timeoutMs": 150}
let a = 1n << 900000n; for (;;) a = BigInt.asIntN(900000, a * a)
//## parse-hex
//# expect: completed or failed guest_deadline memory_limit_exceeded guest_error stack_overflow
//# options: {"timeoutMs": 150}
for (;;) BigInt('0x' + 'f'.repeat(2000000))
//## remainder
//# expect: completed or failed guest_deadline memory_limit_exceeded guest_error stack_overflow
//# options: {"timeoutMs": 150}
const a = (1n << 2000000n) - 1n, b = (1n << 999999n) - 3n; for (;;) a % b
