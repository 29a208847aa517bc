const seen = [];
for (const id of ["mcp:git-hub:list_issues", "list_issues"]) { try { await tools.call(id, {}) } catch (e) { seen.push(e.message) } }
return seen
/*---
exec -> 
---*/
