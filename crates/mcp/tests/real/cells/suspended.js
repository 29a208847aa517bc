// servers: memory, filesystem
// returns: ["first,second", 3]
// suspended: 2
// Each leg is a process of its own, with servers of its own.
const pids = [];
const pid = async () => pids.push((await tools.read({ path: "pids/memory" })).text.trim());
await pid();
await MCP.memory.createEntities({ entities: [{ name: "first", entityType: "leg", observations: [] }] });
const { createEntities } = MCP.memory;
await yield_control();
await pid();
await createEntities({ entities: [{ name: "second", entityType: "leg", observations: [] }] });
await yield_control();
await pid();
const graph = await MCP.memory.readGraph();
await MCP.filesystem.writeFile({ path: "legs.txt", content: graph.structuredContent.entities.map(({ name }) => name).join() });
return [(await tools.read({ path: "legs.txt" })).text, new Set(pids).size];
