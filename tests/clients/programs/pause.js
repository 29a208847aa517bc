// Stops in the middle, and goes on in another request.
const before = await MCP.everything.echo({ message: "before" });
await yield_control("have a look");
return [before.content[0].text, (await MCP.everything.echo({ message: "after" })).content[0].text];
