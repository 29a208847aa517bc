//## brackets
//# expect: failed syntax_error stack_overflow
//# options: {"timeoutMs": 150}
//# fill: X = "[" * 100000
@X@
//## parentheses
//# expect: failed syntax_error stack_overflow
//# options: {"timeoutMs": 150}
//# fill: X = "(" * 100000
return @X@1
//## braces
//# expect: failed syntax_error stack_overflow
//# options: {"timeoutMs": 150}
//# fill: X = "{" * 100000
@X@
//## unary
//# expect: failed syntax_error stack_overflow
//# options: {"timeoutMs": 150}
//# fill: X = "- " * 100000
return @X@1
//## arrows
//# expect: failed syntax_error stack_overflow
//# options: {"timeoutMs": 150}
//# fill: X = "a=>" * 60000
return @X@1
//## templates
//# expect: failed syntax_error stack_overflow
//# options: {"timeoutMs": 150}
//# fill: X = "`${" * 60000
return @X@
//## closed-brackets
//# expect: completed or failed syntax_error stack_overflow output_limit_exceeded guest_error
//# options: {"timeoutMs": 150}
//# fill: X = "[" * 60000
//# fill: Y = "]" * 60000
return @X@@Y@
//## binary-chain
//# expect: completed or failed syntax_error stack_overflow
//# options: {"timeoutMs": 150}
//# fill: X = "+1" * 60000
return 1@X@
//## member-chain
//# expect: completed or failed syntax_error stack_overflow guest_error
//# options: {"timeoutMs": 150}
//# fill: X = "?.a" * 60000
return tools@X@
//## call-chain
//# expect: failed syntax_error stack_overflow guest_error
//# options: {"timeoutMs": 150}
//# fill: X = "()" * 60000
return text@X@
//## else-if-chain
//# expect: completed or failed syntax_error stack_overflow
//# options: {"timeoutMs": 150}
//# fill: X = "if(0);else " * 20000
@X@1
//## blocks
//# expect: completed or failed syntax_error stack_overflow
//# options: {"timeoutMs": 150}
//# fill: X = "{" * 60000
//# fill: Y = "}" * 60000
@X@@Y@
//## regexps
//# expect: completed or failed syntax_error stack_overflow guest_deadline
//# options: {"timeoutMs": 150}
//# fill: X = "(" * 50000
//# fill: Y = ")" * 50000
return /@X@@Y@/.test("a")
//## new-chain
//# expect: failed syntax_error stack_overflow guest_error
//# options: {"timeoutMs": 150}
//# fill: X = "new " * 50000
@X@a
//## statements
//# expect: completed or failed guest_deadline syntax_error
//# options: {"timeoutMs": 150}
//# fill: X = "a:;" * 80000
@X@return 1
//## variables
//# expect: completed or failed syntax_error guest_error memory_limit_exceeded guest_deadline
//# options: {"timeoutMs": 150}
//# fill: X = ",a" * 100000
var a@X@; return 1
//## functions
//# expect: completed or failed syntax_error stack_overflow
//# options: {"timeoutMs": 150}
//# fill: X = "function f(){" * 15000
//# fill: Y = "}" * 15000
@X@@Y@
//## destructuring
//# expect: completed or failed syntax_error stack_overflow guest_error
//# options: {"timeoutMs": 150}
//# fill: X = "[" * 50000
//# fill: Y = "]" * 50000
const @X@a@Y@ = []; return 1
//## json-in-the-guest
//# expect: completed or failed guest_deadline memory_limit_exceeded guest_error stack_overflow
//# options: {"timeoutMs": 150}
try { JSON.parse('['.repeat(500000)) } catch (e) { return e.name }
