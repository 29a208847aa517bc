// servers: sqlite
// returns: {"rows": "[{'name': 'nut', 'weight': 3}, {'name': 'bolt', 'weight': 8}]", "tables": "[{'name': 'parts'}]", "wrong": true, "resources": ["memo://insights"], "memo": true, "prompts": ["mcp-demo"], "prompt": true}
// A database through its server: tools, a resource that changes, a prompt.
const { sqlite } = MCP;
const text = (result) => result.content.map((block) => block.text).join("");
await sqlite.createTable({ query: "create table parts (name text, weight integer)" });
await sqlite.writeQuery({ query: "insert into parts values ('nut', 3), ('bolt', 8)" });
await sqlite.appendInsight({ insight: "Bolts are heavier." });
const { resources } = await sqlite.resources.list();
const { contents } = await sqlite.resources.read({ uri: "memo://insights" });
const { messages } = await sqlite.prompts.get({ name: "mcp-demo", arguments: { topic: "hardware" } });
return {
  rows: text(await sqlite.readQuery({ query: "select name, weight from parts order by weight" })),
  tables: text(await sqlite.listTables()),
  wrong: /error/i.test(text(await sqlite.readQuery({ query: "select nothing from nowhere" }))),
  resources: resources.map(({ uri }) => uri),
  memo: contents[0].text.includes("Bolts are heavier."),
  prompts: (await sqlite.prompts.list()).prompts.map(({ name }) => name),
  prompt: messages[0].content.text.includes("hardware"),
};
