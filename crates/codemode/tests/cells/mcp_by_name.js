const seen = [];
for (const id of ["mcp:git-hub:list_issues", "list_issues"]) { try { await tools.call(id, {}) } catch (e) { seen.push(e.message) } }
return seen
/*---
exec -> {"status":"completed","value":["`mcp:git-hub:list_issues` is a tool of an MCP server; call it as MCP.gitHub.listIssues({...})","`list_issues` is a tool of an MCP server; call it as MCP.gitHub.listIssues({...})"],"effects":{"committed":0,"failed":0,"unknown":0,"notStarted":2,"calls":[{"id":"c1","tool":"mcp:git-hub:list_issues","state":"notStarted","effect":"write"},{"id":"c2","tool":"list_issues","state":"notStarted","effect":"write"}]}}
---*/
