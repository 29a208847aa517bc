return [ALL_TOOLS.length, ALL_TOOLS[0], Array.isArray(ALL_TOOLS), Object.isFrozen(ALL_TOOLS), Object.isFrozen(ALL_TOOLS[0]), ALL_TOOLS.some(t => t.source === "mcp"), ALL_TOOLS.map(t => t.name).includes("exec")]
/*---
exec -> {"status":"completed","value":[16,{"id":"openclaw:core:echo","name":"echo","description":"The fake tool echo.","source":"openclaw"},true,true,true,false,true]}
---*/
