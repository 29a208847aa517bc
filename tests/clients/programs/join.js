// Five servers in one program: independent calls together, one value at the end.
const structured = (result) => result.structuredContent ?? result.content.map((block) => block.text).join("");
const [sum, thought, status] = await Promise.all([
  MCP.everything.getSum({ a: 2, b: 40 }),
  MCP.thinking.sequentialthinking({ thought: "join them", thoughtNumber: 1, totalThoughts: 1, nextThoughtNeeded: false }),
  MCP.git.gitStatus({ repo_path: "." }),
]);
await MCP.files.writeFile({ path: "note.txt", content: structured(sum) });
await MCP.memory.createEntities({ entities: [{ name: "note", entityType: "file", observations: ["holds a sum"] }] });
const [note, found] = await Promise.all([
  MCP.files.readTextFile({ path: "note.txt" }),
  MCP.memory.searchNodes({ query: "note" }),
]);
return {
  note: structured(note).content ?? structured(note),
  thoughts: structured(thought).thoughtHistoryLength ?? structured(thought),
  branch: structured(status).split("\n")[1] ?? structured(status),
  remembered: structured(found).entities?.map((entity) => entity.name) ?? structured(found),
};
