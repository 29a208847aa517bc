// servers: filesystem, sqlite, git, memory
// returns: [{"name": "bolt.txt", "bytes": 2, "grams": 8, "committed": true, "remembered": []}, {"name": "nut.txt", "bytes": 1, "grams": 3, "committed": false, "remembered": ["fits M3"]}]
// What four servers know in one table: files, their weights, their commits, what is remembered of them.
const text = (result) => result.structuredContent?.content ?? result.content.map((block) => block.text).join("");
const repo = { repo_path: "." };
const names = ["nut.txt", "bolt.txt"];
await Promise.all(names.map((name, index) => MCP.filesystem.writeFile({ path: name, content: "x".repeat(index + 1) })));
await MCP.sqlite.createTable({ query: "create table weights (name text primary key, grams integer)" });
await MCP.sqlite.writeQuery({ query: "insert into weights values ('nut.txt', 3), ('bolt.txt', 8)" });
await MCP.git.gitAdd({ ...repo, files: ["bolt.txt"] });
await MCP.git.gitCommit({ ...repo, message: "add bolt.txt" });
await MCP.memory.createEntities({ entities: [{ name: "nut.txt", entityType: "file", observations: ["fits M3"] }] });
const [listed, weights, log, graph] = await Promise.all([
  MCP.filesystem.listDirectory({ path: "." }),
  MCP.sqlite.readQuery({ query: "select group_concat(name || '=' || grams) as all_of_them from weights" }),
  MCP.git.gitLog(repo),
  MCP.memory.readGraph(),
]);
const files = text(listed).match(/\w+\.txt/g).sort();
const sizes = await Promise.all(files.map(async (name) => text(await MCP.filesystem.readTextFile({ path: name })).length));
return files.map((name, index) => ({
  name,
  bytes: sizes[index],
  grams: Number(text(weights).match(new RegExp(`${name}=(\\d+)`))[1]),
  committed: text(log).includes(`add ${name}`),
  remembered: graph.structuredContent.entities.filter((entity) => entity.name === name).flatMap(({ observations }) => observations),
}));
