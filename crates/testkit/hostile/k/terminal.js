//## escapes
//# expect: completed
text('\x1b[2J\x1b]0;owned\x07\x9b31m'); console.log('\x1b[31mred'); return '\x1b]8;;http://x\x07link\x1b]8;;\x07'
//## right-to-left
//# expect: completed
text('\u202egnp.exe\u202c \u2066x\u2069 \u200f'); return 'a\u202eb'
//## newlines-and-nul
//# expect: completed
text('a\r\nb\0c\u2028d\u2029'); console.log('[error] x\n[log] y'); return 'data: x\n\nevent: y'
//## in-an-error
//# expect: failed guest_error
throw new Error('\x1b[2J\u202e\r\n')
//## in-names
//# expect: completed
//# value: "unknown_tool"
try { await tools.call('\x1b[31mx\u202e\n', {}) } catch (e) { return e.code }
//## in-a-yield
//# expect: completed
//# value: 1
await yield_control('\x1b[2J\u202e' + 'x'.repeat(1e5)); return 1
