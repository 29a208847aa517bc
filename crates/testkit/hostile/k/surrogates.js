//## cut-in-a-pair
//# expect: failed output_limit_exceeded
//# options: {"maxOutputBytes": 1026}
text('\u{1f600}'.repeat(40000)); return 1
//## lone-in-output
//# expect: completed
text('\ud800'); json({a: '\udfff', ['\ud83d']: 1}); console.log('x\ud800y'); return '\udc00\ud800'
//## pair-over-two-texts
//# expect: completed
text('\ud83d'); text('\ude00'); return 1
//## console-cut
//# expect: completed
//# options: {"maxOutputBytes": 1025}
console.log('\u{1f600}'.repeat(20000)); return 1
//## error-cut
//# expect: failed guest_error output_limit_exceeded
//# options: {"maxOutputBytes": 1027}
throw new Error('\u{1f600}'.repeat(20000))
