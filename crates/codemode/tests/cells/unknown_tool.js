try { await tools.ehco({}) } catch (e) { return {name: e.name, message: e.message, code: e.code, tool: e.tool, effect: e.effectStatus, is: e instanceof Error} }
/*---
exec -> {"status":"completed","value":{"name":"Error","message":"unknown tool `ehco`. Did you mean echo, echo_w?","code":"unknown_tool","tool":"ehco","effect":"notStarted","is":true},"effects":{"committed":0,"failed":0,"unknown":0,"notStarted":1,"calls":[{"id":"c1","tool":"ehco","state":"notStarted","effect":"write"}]}}
---*/
