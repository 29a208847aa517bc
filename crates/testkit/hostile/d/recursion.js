//## control-tools
//# expect: completed
//# value: ["unknown_tool"]
const seen = new Set();
for (const id of ['wait', 'openclaw:core:wait', 'tool_call', 'tool_search', 'tool_describe', 'tool_search_code', 'EXEC', 'openclaw:CORE:exec', ' exec', 'codecell:exec', 'ex\u0435c', 'openclaw:code_mode:exec']) {
  try { await tools.call(id, {code: 'return 1'}); seen.add('called ' + id) } catch (e) { seen.add(e.code) }
}
return [...seen]
//## the-shell-tool-of-that-name
//# expect: completed
//# value: {"code":"return 1"}
return await tools.exec({code: 'return 1'})
//## not-listed
//# expect: completed
//# value: [["openclaw:core:exec"],false]
return [ALL_TOOLS.map(t => t.id).filter(id => /(^|:)(exec|wait|tool_\w+)$/.test(id)), 'wait' in tools]
