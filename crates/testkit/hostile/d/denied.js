//## by-every-spelling
//# expect: completed
//# value: ["unknown_tool"]
const seen = new Set();
for (const id of ['forbidden', 'openclaw:core:forbidden', 'Forbidden', 'FORBIDDEN', ' forbidden', 'forbidden ', 'forbid', 'forbidden\u200b', 'f\u043erbidden', 'ｆorbidden', 'forbidden\u0000', 'core:forbidden', '*forbidden', 'forbidden*', 'forbidden,echo', 'echo,forbidden']) {
  for (const call of ['call', 'callRaw']) try { await tools[call](id, {}); seen.add('called ' + id) } catch (e) { seen.add(e.code) }
}
return [...seen]
//## as-a-member
//# expect: completed
//# value: ["function","unknown_tool",false,false]
let code; try { await tools.forbidden({}) } catch (e) { code = e.code }
return [typeof tools.forbidden, code, 'forbidden' in tools, Object.keys(tools).includes('forbidden')]
//## not-to-be-found
//# expect: completed
//# value: [[],0,"unknown_tool"]
const hits = await tools.search(['forbidden', 'The fake tool forbidden.'], {limit: 50}); let code; try { await tools.describe('forbidden') } catch (e) { code = e.code }
return [hits.filter(h => /forbidden/.test(JSON.stringify(h))), ALL_TOOLS.filter(t => /forbidden/.test(t.id)).length, code]
//## no-near-name-of-it
//# expect: completed
//# value: false
try { await tools.call('forbiden', {}) } catch (e) { return /forbidden/.test(e.message + e.stack) }
//## by-a-getter-that-changes
//# expect: completed
//# value: "unknown_tool"
let n = 0; const id = {toString() { return n++ ? 'forbidden' : 'echo' }};
try { const r = await tools.call(String(id) && String(id), {}); return r } catch (e) { return e.code }
