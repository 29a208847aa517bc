//## escaped-identifier
//# expect: completed
//# value: 3
var \u0061b\u{63} = 3; return abc
//## escaped-keyword
//# expect: failed syntax_error
r\u0065turn 1
//## html-comments
//# expect: completed or failed syntax_error
<!-- text('hidden')
return 1
--> text('hidden')
//## html-comment-in-the-middle
//# expect: completed or failed syntax_error
let x = 1 <!--x
; return x
//## hashbang
//# expect: completed or failed syntax_error
#!/usr/bin/env node
return 1
//## byte-order-mark
//# expect: completed
//# value: 1
//# fill: BOM = "\ufeff" * 1
@BOM@return 1
//## line-separators
//# expect: completed
//# value: ["a\u2028b",2]
//# fill: LS = "\u2028" * 1
//# fill: PS = "\u2029" * 1
const s = "a@LS@b"; // comment @PS@ return [s, 2]
//## nul-in-the-text
//# expect: failed syntax_error
//# fill: NUL = "\u0000" * 1
return 1@NUL@2
//## nul-in-a-string
//# expect: completed
//# value: 3
//# fill: NUL = "\u0000" * 1
return "a@NUL@b".length
//## source-url
//# expect: failed guest_error
throw new Error('x')
//# sourceURL=/etc/passwd
//# sourceMappingURL=http://169.254.169.254/
//## right-to-left
//# expect: completed
//# value: "user"
//# fill: RLO = "\u202e" * 1
/*@RLO@ } if (isAdmin) begin */ const role = "user"; return role
//## zero-width-names
//# expect: completed or failed syntax_error
//# fill: ZWJ = "\u200d" * 1
const a@ZWJ@ = 1, a = 2; return [a@ZWJ@, a]
//## lone-surrogate-escapes
//# expect: completed
//# value: [1,55357]
const s = '\ud83d'; return [s.length, s.charCodeAt(0)]
//## use-strict-and-octals
//# expect: failed syntax_error
'use strict'; return 010
//## with-and-sloppy
//# expect: completed
//# value: 2
with ({x: 2}) { return x }
//## get-set-async-names
//# expect: completed
//# value: 6
const get = 1, set = 2, async = 3; return get + set + async
//## a-megabyte-of-nothing
//# expect: failed invalid_arguments
//# fill: SPACE = " " * 1000000
return 1@SPACE@
