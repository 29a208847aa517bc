//## nested-groups
//# expect: completed or failed stack_overflow guest_error syntax_error guest_deadline
try { return new RegExp('('.repeat(50000) + ')'.repeat(50000)).test('') } catch (e) { return e.name }
//## nested-lookaheads
//# expect: completed or failed stack_overflow guest_error guest_deadline
try { return new RegExp('(?='.repeat(20000) + ')'.repeat(20000)).test('') } catch (e) { return e.name }
//## long-alternation
//# expect: completed or failed stack_overflow guest_error guest_deadline memory_limit_exceeded
return new RegExp(Array.from({length: 50000}, (_, i) => 'a' + i).join('|')).test('b')
//## backtracking-depth
//# expect: completed or failed stack_overflow guest_error guest_deadline memory_limit_exceeded
//# options: {"timeoutMs": 2000}
return /(?:(a)|b)*c/.test('ab'.repeat(500000))
//## nested-classes
//# expect: completed or failed stack_overflow guest_error guest_deadline memory_limit_exceeded
try { return new RegExp('['.repeat(20000) + 'a' + ']'.repeat(20000), 'v').test('a') } catch (e) { return e.name }
