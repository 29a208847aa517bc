// servers: everything, time
// returns: [0, false, ["mcp_server_died", "unknown", "mcp:everything:trigger-long-running-operation"], "Echo: back"]
// A server is killed while it works on a call: that call's fate is unknown, the other server's call is not touched, the next one works.
const before = (await tools.read({ path: "pids/everything" })).text.trim();
const long = MCP.everything.triggerLongRunningOperation({ duration: 60, steps: 60 })
  .then(() => "done", (error) => [error.code, error.effectStatus, error.tool]);
const [killed, other] = await Promise.all([
  tools.exec({ command: `sleep 0.5; kill -9 ${before}` }),
  MCP.time.convertTime({ source_timezone: "UTC", time: "00:00", target_timezone: "UTC" }),
]);
return [killed.exitCode, other.isError ?? false, await long, (await MCP.everything.echo({ message: "back" })).content[0].text];
