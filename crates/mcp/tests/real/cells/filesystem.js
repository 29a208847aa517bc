// servers: filesystem
// returns: {"all": "one\nzwei\nthree\n", "head": "one", "outside": [true, true], "listed": "[FILE] moved.txt", "same": true}
// Files are written, changed and read; what lies outside of the server's folder is its own refusal, not an exception.
const { filesystem } = MCP;
const text = (result) => result.structuredContent?.content ?? result.content.map((block) => block.text).join("");
await filesystem.createDirectory({ path: "notes" });
await filesystem.writeFile({ path: "notes/one.txt", content: "one\ntwo\nthree\n" });
await filesystem.editFile({ path: "notes/one.txt", edits: [{ oldText: "two", newText: "zwei" }] });
const [all, head, outside] = await Promise.all([
  filesystem.readTextFile({ path: "notes/one.txt" }),
  filesystem.readTextFile({ path: "notes/one.txt", head: 1 }),
  filesystem.readTextFile({ path: "/etc/hostname" }),
]);
await filesystem.moveFile({ source: "notes/one.txt", destination: "notes/moved.txt" });
return {
  all: text(all),
  head: text(head),
  outside: [outside.isError, /outside/i.test(text(outside))],
  listed: text(await filesystem.listDirectory({ path: "notes" })),
  same: (await tools.read({ path: "notes/moved.txt" })).text === text(all),
};
