Names that are the same after renaming: each tool keeps a name of its own.
//## each-name-is-another-tool
//# expect: completed
//# servers: nasty
//# value: true
const {tools: all} = await MCP.nasty.$api();
const same = all.filter((tool) => ['get-thing', 'get_thing', 'getThing', 'get thing'].includes(tool.mcpTool));
const names = new Set(same.map((tool) => tool.method));
return same.length === 4 && names.size === 4 && [...names].every((name) => /^getThing[2-9]?$/.test(name));
//## servers-that-look-alike-are-apart
//# expect: completed
//# servers: nasty
//# value: [3, 3]
const {servers} = await MCP.$api();
const alike = servers.filter((server) => ['nasty', 'Nasty', 'na/sty'].includes(server.serverName));
return [alike.length, new Set(alike.map((server) => server.identifier)).size];
//## a-name-stays-with-its-tool-over-a-suspension
//# expect: completed
//# servers: nasty
//# value: true
const before = (await MCP.nasty.$api()).tools.map((tool) => tool.path + ' ' + tool.mcpTool).join();
await yield_control();
const after = (await MCP.nasty.$api()).tools.map((tool) => tool.path + ' ' + tool.mcpTool).join();
return before === after;
