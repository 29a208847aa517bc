Names and descriptions that break out of what they are put into.
//## every-tool-is-called-by-its-listed-name
//# expect: completed
//# servers: nasty
//# value: true
let count = 0;
for (const server of Object.keys(MCP)) {
  for (const tool of Object.keys(MCP[server])) {
    const result = await MCP[server][tool]({count});
    if (result.structuredContent.count !== count) return [server, tool, result];
    count += 1;
  }
}
return count > 40;
//## files-declare-every-listed-name-once
//# expect: completed
//# servers: nasty
//# value: []
const wrong = [];
for (const server of Object.keys(MCP)) {
  const {content} = await API.read('mcp/' + server + '.d.ts');
  for (const tool of Object.keys(MCP[server])) {
    const declared = content.split('\n  function ' + tool + '(').length - 1;
    if (declared !== 1) wrong.push([server, tool, declared]);
  }
}
return wrong;
//## nothing-of-theirs-stands-outside-of-comments
//# expect: completed
//# servers: nasty
//# value: []
const wrong = [];
for (const {path} of (await API.list()).files) {
  const {content} = await API.read(path);
  const code = content.replace(/\/\*[^]*?\*\//g, '').replace(/"(?:[^"\\]|\\.)*"/g, '""');
  for (const word of ['broken', 'alert', 'process', 'script', 'reversed', '`', '\u202e', '\u2028']) {
    if (code.includes(word) && !/^[a-zA-Z]*$/.test(word)) wrong.push([path, word]);
    if (code.includes(word + '(') || code.includes(word + '.')) wrong.push([path, word]);
  }
  if (code.split('{').length !== code.split('}').length) wrong.push([path, 'braces']);
}
return wrong;
//## a-server-does-not-speak-for-another
//# expect: completed
//# servers: nasty
//# value: ["unknown_server", "unknown_tool", "unknown_tool"]
const code = (call) => call.then(() => 'made', (error) => error.code);
return [await code(MCP['nasty*/'].delete2({})), await code(MCP.nasty['delete2({});MCP.nasty2.delete2']({})), await code(MCP.nasty['../nasty2/delete2']({}))];
