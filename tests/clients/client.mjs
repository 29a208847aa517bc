// The official TypeScript SDK in front of codecell: over HTTP with the token, two sessions at once.
//   client.mjs URL TOKEN PROGRAMS SDK
// Prints what it saw, without what differs from run to run.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const [url, token, programs, sdk] = process.argv.slice(2);
const load = (path) => import(pathToFileURL(join(sdk, "dist/esm", path)).href);
const { Client } = await load("client/index.js");
const { StreamableHTTPClientTransport } = await load("client/streamableHttp.js");
const { ElicitRequestSchema } = await load("types.js");

const program = (name) => readFileSync(join(programs, name), "utf8");
const exec = (client, code, options) =>
  client.callTool({ name: "exec", arguments: { code } }, undefined, options);

async function connect(name, capabilities = {}) {
  const client = new Client({ name, version: "1" }, { capabilities });
  const headers = { Authorization: `Bearer ${token}` };
  const transport = new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } });
  await client.connect(transport);
  return { client, transport };
}

const stranger = new StreamableHTTPClientTransport(new URL(url));
await new Client({ name: "stranger", version: "1" })
  .connect(stranger)
  .then(() => console.log("a stranger came in"))
  .catch((error) => console.log("without the token:", /\b401\b/.test(String(error.message) + error.code) ? "401" : error.message));

let questions = 0;
const one = await connect("one", { elicitation: {} });
one.client.setRequestHandler(ElicitRequestSchema, async () => {
  questions += 1;
  return { action: "accept", content: { decision: "tool" } };
});
console.log("connected:", one.client.getServerVersion().name, "to", Object.keys(one.client.getServerCapabilities()).join(", "));
const { tools } = await one.client.listTools();
console.log("tools:", tools.map((tool) => tool.name).join(", "));

let steps = 0;
const joined = await exec(one.client, program("join.js"), { onprogress: () => (steps += 1) });
console.log("join.js:", JSON.stringify(joined.structuredContent.value ?? joined.structuredContent.error));
console.log("questions:", questions, "- steps of progress:", steps > 0 ? "some" : "none");

const paused = await exec(one.client, program("pause.js"));
const { runId } = paused.structuredContent;
const two = await connect("two");
const stolen = await two.client.callTool({ name: "wait", arguments: { runId } });
console.log("wait of another session:", stolen.structuredContent.error);
const ended = await one.client.callTool({ name: "wait", arguments: { runId } });
console.log("wait:", JSON.stringify(ended.structuredContent.value));

const image = await exec(one.client, program("image.js"));
console.log("image.js:", image.content.map((block) => [block.type, block.mimeType].filter(Boolean).join(" ")).join(", "));

const denied = await exec(two.client, 'return await MCP.files.writeFile({ path: "x", content: "" })');
console.log("a client that cannot be asked:", denied.structuredContent.error);

for (const { client, transport } of [one, two]) {
  await transport.terminateSession();
  await client.close();
}
