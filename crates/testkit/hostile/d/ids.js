//## ids-of-calls-are-not-the-programs
//# expect: completed
//# value: [{"id":4294967295},{"id":-1},{"id":"c1"}]
return [await tools.echo({id: 4294967295}), await tools.echo({id: -1}), await tools.echo({id: 'c1'})]
//## forged-ids-of-tools
//# expect: completed
//# value: ["unknown_tool"]
const seen = new Set();
for (const id of ['openclaw:core:', 'openclaw::echo', ':core:echo', 'openclaw:core:echo:x', 'openclaw:core:echo ', 'OPENCLAW:core:echo', 'openclaw:plugin:echo', 'client:echo', 'mcp:git-hub:', 'openclaw:core:ech\u043e', 'openclaw:core:echo\u0000', 'openclaw/core/echo', '../echo', 'openclaw:core:%65cho', 'echo\n', '']) {
  try { await tools.call(id, {}); seen.add('called ' + id) } catch (e) { seen.add(e.code ?? e.name) }
}
seen.delete('TypeError'); seen.delete('invalid_arguments'); return [...seen]
//## ids-that-are-no-text
//# expect: completed
//# value: true
let called = 0;
for (const id of [undefined, null, 1, {}, [], ['echo'], () => 1, Symbol('echo'), 10n, new String('echo'), {toString: () => 'note_w'}, new Proxy({}, {})]) {
  try { await tools.call(id, {}); called++ } catch {}
}
return called <= 2
//## mcp-tools-are-not-among-tools
//# expect: completed
//# value: ["mcp_tool","unknown_tool"]
const seen = new Set();
for (const id of ['mcp:git-hub:list_issues', 'list_issues', 'git-hub', 'gitHub', 'MCP.gitHub.listIssues']) try { await tools.call(id, {}); seen.add('called ' + id) } catch (e) { seen.add(e.code) }
return [...seen]
