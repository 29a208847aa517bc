// servers: all
// returns: {"365": ["server", 188, true, []], "airtable": ["airtable", 16, true, []], "browser": ["browser", 25, true, []], "context 7": ["context7", 2, true, []], "everything": ["everything", 13, true, []], "excel": ["excel", 46, true, []], "fetch": ["fetch", 1, true, []], "filesystem": ["filesystem", 14, true, []], "git": ["git", 12, true, []], "github legacy": ["githubLegacy", 26, true, []], "memory": ["memory", 9, true, []], "notion API": ["notionAPI", 24, true, []], "puppeteer": ["puppeteer", 7, true, []], "sequential-thinking": ["sequentialThinking", 1, true, []], "sqlite": ["sqlite", 6, true, []], "time": ["time", 2, true, []]}
// Every server is named, declared and counted; the odd names of their tools have become identifiers.
const { servers } = await MCP.$api();
const { files } = await API.list();
const counts = {};
for (const { identifier, serverName, toolCount } of servers) {
  const path = `mcp/${identifier}.d.ts`;
  const { content } = await API.read(path);
  const { tools, schemas } = await MCP[identifier].$api(undefined, { schema: true });
  const missing = tools.filter(({ method }) => !content.includes(`function ${method.split(".").at(-1)}(`));
  const noFunction = tools.filter(({ method }) => {
    let member = MCP[identifier];
    for (const part of method.split(".")) member = member[part];
    return typeof member !== "function";
  });
  const isListed = files.some((file) => file.path === path);
  const noSchema = tools.filter(({ method, operation }) => operation === "tools/call" && !schemas[method]);
  counts[serverName] = [identifier, toolCount, isListed, [...missing, ...noFunction, ...noSchema].map(({ path }) => path)];
}
return counts;
