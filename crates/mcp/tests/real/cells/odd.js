// servers: notion API, 365, github legacy, airtable, context 7
// returns: {"header": [1, "API-post-search", true], "found": true, "drive": true, "refused": [["invalid_arguments", "notStarted"], ["invalid_arguments", "notStarted"], ["invalid_arguments", "notStarted"], ["unknown_tool", "notStarted"]]}
// Servers whose names and schemas are odd, and who could only be called with an account: found, described,
// and refused by us before anything is sent.
const refused = (call) => call.then(() => "made", (e) => [e.code, e.effectStatus]);
const ids = (hits) => hits.map(({ call }) => call);
const { tools: one, header } = await MCP.notionAPI.$api("API-post-search");
return {
  header: [one.length, one[0].mcpTool, header.includes("function aPIPostSearch(")],
  found: ids(await API.search("create a new issue in a repository", { limit: 3 })).includes("MCP.githubLegacy.createIssue"),
  drive: ids(await API.search("upload file onedrive", { limit: 5 })).some((call) => call.startsWith("MCP.server.")),
  refused: [
    await refused(MCP.githubLegacy.createIssue({ owner: "o" })),
    await refused(MCP.notionAPI.aPIRetrieveAPage({})),
    await refused(MCP.airtable.listRecords({ baseId: 1 })),
    await refused(MCP.githubLegacy.create_issue({})),
  ],
};
