// servers: memory
// returns: {"found": ["codecell"], "uri": "memory://knowledge-graph", "relations": 1}
// A graph is made and asked; its resource says the same.
const { memory } = MCP;
await memory.createEntities({ entities: [
  { name: "codecell", entityType: "program", observations: ["runs programs"] },
  { name: "model", entityType: "author", observations: [] },
] });
await memory.createRelations({ relations: [{ from: "model", to: "codecell", relationType: "writes for" }] });
const { structuredContent: found } = await memory.searchNodes({ query: "programs" });
const { resources } = await memory.resources.list();
const { contents } = await memory.resources.read({ uri: resources[0].uri });
return { found: found.entities.map(({ name }) => name), uri: resources[0].uri, relations: JSON.parse(contents[0].text).relations.length };
