//## ends-the-function
//# expect: failed syntax_error
})(); text('outside'); (async () => {
//## ends-the-function-with-a-brace
//# expect: failed syntax_error
} text('outside'); {
//## ends-a-call
//# expect: failed syntax_error
return 1 }); while (true) {} (async function () {
//## opens-and-never-closes
//# expect: failed syntax_error
if (true) {
//## unclosed-comment
//# expect: failed syntax_error
return 1 /* and the rest is gone
//## unclosed-template
//# expect: failed syntax_error
return `and the rest ${1 + `is gone
//## unclosed-string
//# expect: failed syntax_error
return "and the rest
//## line-comment-at-the-end
//# expect: completed
//# value: 5
return 5 // })
//## parameters-and-arguments
//# expect: completed
//# value: [0,"undefined"]
return [arguments.length, typeof this === 'object' ? 'undefined' : typeof this]
//## label-and-break
//# expect: failed syntax_error
break outside
//## yield-and-super
//# expect: failed syntax_error
super.x
//## new-target
//# expect: completed or failed syntax_error
return new.target === undefined
