Schemas that explode when they are followed, printed or compared.
//## they-are-listed-and-read
//# expect: completed
//# servers: exploding
//# value: true
const {files} = await API.list();
const file = files.find((one) => one.path === 'mcp/bombs.d.ts');
const {content} = await API.read('mcp/bombs.d.ts');
return content.length <= file.bytes && file.bytes < 4_000_000 && content.includes('function allOf(');
//## they-are-found
//# expect: completed
//# servers: exploding
//# value: true
const hits = await API.search(['goes off', 'wide', 'cycle'], {limit: 50});
return hits.length > 0 && hits.every((hit) => hit.input.length <= 400);
//## they-are-called-or-refused
//# expect: completed
//# servers: exploding
//# value: []
const odd = [];
for (const tool of Object.keys(MCP.bombs)) {
  const how = await MCP.bombs[tool]({}).then(() => 'made', (error) => error.code);
  if (!['made', 'tool_unavailable', 'invalid_arguments'].includes(how)) odd.push([tool, how]);
}
return odd;
//## an-evil-pattern-is-bounded
//# expect: completed
//# servers: exploding
//# value: true
const how = await MCP.bombs.pattern({a: 'a'.repeat(50_000) + '!'}).then(() => 'made', (error) => error.code);
return how === 'invalid_arguments';
//## the-raw-schema-is-too-large-to-send
//# expect: completed
//# servers: exploding
//# value: true
const how = await MCP.bombs.$api('long', {schema: true}).then((api) => typeof api.schemas.long, (error) => error.code);
return how === 'object' || how === 'reply_too_large';
