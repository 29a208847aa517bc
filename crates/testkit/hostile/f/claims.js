//## by-message
//# expect: failed guest_error
throw new InternalError('out of memory')
//## by-code
//# expect: failed guest_error
throw Object.assign(new Error('out of memory'), {code: 'memory_limit_exceeded', kind: 'memory_limit_exceeded'})
//## by-null
//# expect: failed guest_error
throw null
//## by-range-error
//# expect: failed guest_error
throw new RangeError('Maximum call stack size exceeded')
//## by-undefined
//# expect: failed guest_error
throw undefined
//## by-rejection
//# expect: failed guest_error
await Promise.reject(new InternalError('out of memory'))
//## by-name
//# expect: failed guest_error
const e = new Error('x'); e.name = 'InternalError'; e.message = 'out of memory'; throw e
