//## last-index-by-value-of
//# expect: completed or failed guest_error memory_limit_exceeded guest_deadline stack_overflow
//# options: {"timeoutMs": 3000}
const r = /a/g; r.lastIndex = {valueOf() { r.compile('b'.repeat(1000), 'g'); return 0 }}; try { return r.exec('aaa') } catch (e) { return e.name }
//## recompiled-in-replace
//# expect: completed or failed guest_error memory_limit_exceeded guest_deadline stack_overflow
//# options: {"timeoutMs": 3000}
const r = /(a)(b)?/g; try { return 'ababab'.replace(r, () => { r.compile('x'); return 'y' }).length } catch (e) { return e.name }
//## odd-classes-and-ranges
//# expect: completed or failed guest_error memory_limit_exceeded guest_deadline stack_overflow
//# options: {"timeoutMs": 3000}
//# value: "number"
const seen = []; for (const s of ['[z-a]', '[\\d-x]', '(?<a>.)(?<a>.)', '\\k<x>', '(?<=a){2}', '{1}', '[[a--b]&&c]', '\\p{RGI_Emoji}', '\\p{' + 'x'.repeat(5000) + '}', '\\u{110000}', '(?i-i:a)', '(?', 'a{2147483648}', 'a{99999999999999999999}', '\\c', '[\\c]', '(?:a|b|)*?$'].concat(Array.from({length: 300}, (_, i) => '(' .repeat(i % 260) + 'a' + ')'.repeat(i % 260)))) for (const f of ['', 'u', 'v', 'gimsy', 'd']) try { new RegExp(s, f).exec('ab'.repeat(20)); seen.push(1) } catch (e) { if (!(e instanceof SyntaxError)) seen.push(e.name) } return typeof seen.length
//## many-captures
//# expect: completed or failed guest_error memory_limit_exceeded guest_deadline stack_overflow
//# options: {"timeoutMs": 3000}
try { return new RegExp('(a)'.repeat(300)).test('a'.repeat(300)) } catch (e) { return e.name }
//## exec-result-forged
//# expect: completed or failed guest_error memory_limit_exceeded guest_deadline stack_overflow
//# options: {"timeoutMs": 3000}
const r = /x/g; r.exec = () => ({index: -5, length: 2 ** 31, 0: {toString: () => 'x'.repeat(1000)}, groups: new Proxy({}, {get: () => 'g'})}); let n = 0; r.exec = () => n++ < 3 ? {index: -5, length: 10, 0: 'x'} : null; return 'abc'.replace(r, '$<a>$9$`').length
//## unicode-boundaries
//# expect: completed or failed guest_error memory_limit_exceeded guest_deadline stack_overflow
//# options: {"timeoutMs": 3000}
return [/\ud83d/u.test('\ud83d\ude00'), /^.$/u.test('\ud83d\ude00'), /(?<=\ude00)x/.test('\ud83d\ude00x'), /\b/iu.exec('\u017f').index]
