// servers: everything, sqlite, memory, fetch
// returns: [["everything", true, true], ["fetch", false, true], ["memory", true, false], ["sqlite", true, true]]
// All resources and prompts of several servers, asked for in one program; who has none says so.
const all = await Promise.all(Object.keys(MCP).map(async (server) => {
  const ask = async (family) => {
    if (!(family in MCP[server])) return null;
    const found = await MCP[server][family].list();
    return found[family].length;
  };
  return [server, (await ask("resources")) > 0, (await ask("prompts")) > 0];
}));
return all;
