// servers: excel
// returns: [[["nut", 3], ["bolt", 8], [null, 11]], "invalid_arguments"]
// Nested arrays of mixed values there and back, with a formula between.
const { excel } = MCP;
const folder = (await tools.exec({ command: "pwd" })).stdout.trim();
const path = `${folder}/book.xlsx`;
await excel.createWorkbook({ path, sheets: ["Parts"] });
await excel.writeRange({ path, sheet: "Parts", at: "A1", rows: [["nut", 3], ["bolt", 8], [null, "=SUM(B1:B2)"]] });
const { structuredContent } = await excel.readRange({ path, sheet: "Parts" });
const refused = await excel.readRange({ path, sheet: "Parts", mode: "neither" }).then(() => "made", (e) => e.code);
return [structuredContent.values, refused];
