//## to-json-loops
//# expect: completed or failed guest_deadline
//# options: {"timeoutMs": 150}
return {toJSON() { for (;;) {} }}
//## getter-loops
//# expect: completed
//# options: {"timeoutMs": 150}
return {get a() { for (;;) {} }}
//## proxy-loops
//# expect: failed guest_deadline
//# options: {"timeoutMs": 150}
return new Proxy({}, {ownKeys() { for (;;) {} }})
//## error-getter-loops
//# expect: failed guest_deadline guest_error
//# options: {"timeoutMs": 150}
throw {get message() { for (;;) {} }, get name() { for (;;) {} }}
//## to-string-of-the-error
//# expect: failed guest_deadline guest_error
//# options: {"timeoutMs": 150}
const e = new Error('x'); Object.defineProperty(e, 'message', {get() { for (;;) {} }}); throw e
//## huge-value
//# expect: failed guest_deadline output_limit_exceeded memory_limit_exceeded
//# options: {"timeoutMs": 150}
return Array.from({length: 3e5}, (_, i) => ({i, s: "x".repeat(30)}))
//## shared-value
//# expect: failed guest_deadline output_limit_exceeded memory_limit_exceeded
//# options: {"timeoutMs": 150}
let a = ['x']; for (let i = 0; i < 40; i++) a = [a, a]; return a
//## shared-argument
//# expect: completed or failed guest_deadline nested_tool_failed guest_error memory_limit_exceeded
//# options: {"timeoutMs": 150}
let a = ['x']; for (let i = 0; i < 40; i++) a = [a, a]; await tools.echo({a})
//## shared-output
//# expect: completed or failed guest_deadline output_limit_exceeded guest_error memory_limit_exceeded
//# options: {"timeoutMs": 150}
let a = ['x']; for (let i = 0; i < 40; i++) a = [a, a]; json(a); return 1
//## detached-after-return
//# expect: failed guest_deadline
//# options: {"timeoutMs": 150}
Promise.resolve().then(() => { for (;;) {} }); return 1
//## timer-after-return
//# expect: completed or failed guest_deadline
//# options: {"timeoutMs": 150}
setTimeout(() => { for (;;) {} }, 0); return 1
