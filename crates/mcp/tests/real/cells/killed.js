// servers: memory, time
// returns: {"memory": [0, true, ["kept"], true], "time": [0, true, "UTC", true]}
// Servers are killed between two calls: the next call reaches a new process, or says that the server died and the one after it does.
const pid = async (server) => (await tools.read({ path: `pids/${server}` })).text.trim();
const call = {
  memory: async () => (await MCP.memory.readGraph()).structuredContent.entities.map(({ name }) => name),
  time: async () => JSON.parse((await MCP.time.getCurrentTime({ timezone: "UTC" })).content[0].text).timezone,
};
await MCP.memory.createEntities({ entities: [{ name: "kept", entityType: "note", observations: [] }] });
const seen = {};
for (const server of ["memory", "time"]) {
  await call[server]();
  const before = await pid(server);
  const { exitCode } = await tools.exec({ command: `kill -9 ${before}` });
  let documented = true;
  let after = await call[server]().catch((error) => {
    documented = error.code === "mcp_server_died" && error.effectStatus === "unknown";
    return call[server]();
  });
  seen[server] = [exitCode, documented, after, (await pid(server)) !== before];
}
return seen;
