//## a-program-cannot-wait
//# expect: completed
//# value: "unknown_tool"
let code; try { await tools.call('wait', {runId: 'x'}) } catch (e) { code = e.code } return code
