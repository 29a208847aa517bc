const found = await tools.search("echo", {limit: 2});
const both = await tools.search(["echo", "hold"], {limit: 3});
return [found.map(f => [f.id, f.source, f.input]), both.length, Object.keys(await tools.describe("echo"))]
/*---
exec -> {"status":"completed","value":[[["openclaw:core:echo","openclaw","{}"],["openclaw:core:echo_w","openclaw","{}"]],3,["id","name","description","source","parameters"]]}
---*/
