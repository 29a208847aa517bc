const tools2 = tools; { const tools = {echo: () => "mine"}; text(tools.echo()) }
return await tools2.echo({v: 1})
/*---
exec -> {"status":"completed","value":{"v":1},"output":[{"type":"text","text":"mine"}]}
---*/
