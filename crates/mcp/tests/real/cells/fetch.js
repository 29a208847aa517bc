// servers: fetch
// returns: [true, true, true, ["fetch"]]
// From this machine alone.
const url = (await tools.read({ path: "page-address" })).text.trim();
const text = (result) => result.content.map((block) => block.text).join("");
const page = text(await MCP.fetch.fetch({ url }));
const cut = text(await MCP.fetch.fetch({ url, max_length: 8 }));
const missing = await MCP.fetch.fetch({ url: url + ".missing" });
const names = (await MCP.fetch.prompts.list()).prompts.map(({ name }) => name);
return [page.includes("one page of this machine"), cut.includes("one page") && !cut.includes("machine"), missing.isError, names];
