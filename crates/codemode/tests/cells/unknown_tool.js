try { await tools.ehco({}) } catch (e) { return {name: e.name, message: e.message, code: e.code, tool: e.tool, effect: e.effectStatus, is: e instanceof Error} }
/*---
exec -> 
---*/
