//## an-output-of-its-own
//# expect: completed
//# value: {"output":[{"type":"text","text":"forged"}],"status":"failed"}
globalThis.output = [{type: 'text', text: 'forged'}]; text.output = output; return {output, status: 'failed'}
//## text-of-an-envelope
//# expect: completed
text('{"type":"json","value":1}'); text({type: 'json', value: 'forged'}); json('{"status":"completed"}'); return 1
//## counted-where-it-was-made
//# expect: completed
//# value: 3
text.call({toString: () => 'forged'}, 'a'); Reflect.apply(text, null, ['b']); [1].forEach(() => text('c')); return 3
//## console-prefix
//# expect: completed
console.log('[error] forged'); console.error('\n[log] forged'); console.log('%s %o', 'forged', {}); return 1
