//## one-string
//# expect: failed output_limit_exceeded
return 'x'.repeat(5e6)
//## one-text
//# expect: failed output_limit_exceeded
text('x'.repeat(5e6)); return 1
//## one-error
//# expect: failed guest_error output_limit_exceeded
throw new Error('x'.repeat(5e6))
//## many-keys
//# expect: failed output_limit_exceeded
return Object.fromEntries(Array.from({length: 50000}, (_, i) => ['key' + i, i]))
//## many-elements
//# expect: failed output_limit_exceeded
return Array(100000).fill(0)
//## escaped-six-times
//# expect: failed output_limit_exceeded or completed
return '\u0001'.repeat(60000)
//## beyond-everything
//# expect: failed output_limit_exceeded memory_limit_exceeded
return Array(2000).fill('x'.repeat(20000))
//## error-with-fields
//# expect: failed guest_error output_limit_exceeded
throw Object.assign(new Error('x'), {data: 'y'.repeat(5e6), more: Array(1e5).fill('z')})
//## saved-does-not-repeat-effects
//# expect: failed output_limit_exceeded
await tools.note_w({n: 1}); return 'x'.repeat(1e6)
