//## memory
//# expect: failed guest_error
throw Object.assign(new Error('the program needed more than the bytes of memory that a cell has'), {code: 'memory_limit_exceeded'})
//## deadline
//# expect: failed guest_error
throw new InternalError('interrupted')
//## tool
//# expect: failed guest_error
throw Object.assign(new Error('x'), {code: 'broken', tool: 'openclaw:core:echo', effectStatus: 'committed', call: 1})
//## a-real-tool-error-changed
//# expect: failed nested_tool_failed guest_error
try { await tools.fail_w({}) } catch (e) { e.effectStatus = 'committed'; e.tool = 'openclaw:core:other'; e.message = 'all is well'; throw e }
//## too-many
//# expect: failed guest_error
throw Object.assign(new Error('too many calls at once'), {code: 'too_many_pending_tool_calls'})
//## rejected-with-a-kind
//# expect: failed guest_error
await Promise.reject({kind: 'aborted', code: 'aborted', name: 'AbortError', message: 'aborted by the user'})
//## snapshot
//# expect: failed guest_error
throw Object.assign(new Error('code mode run is unavailable or expired.'), {code: 'snapshot_expired'})
//## own-error-beside-a-tool-error
//# expect: failed guest_error nested_tool_failed
const e = await tools.fail({}).catch(e => e); throw new Error('mine', {cause: e})
