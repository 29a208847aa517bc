// servers: everything
// returns: {"echo": "Echo: hello", "sum": "The sum of 2 and 40 is 42.", "weather": ["conditions", "humidity", "temperature"], "image": ["image/png", true, "string", null], "links": 2, "resources": true, "contents": ["text/markdown", true], "blob": [true, "string"], "prompts": ["simple-prompt", "args-prompt", "completable-prompt", "resource-prompt"], "simple": "This is a simple prompt without arguments.", "filled": "What's weather in Oslo, none?", "wrong": ["invalid_arguments", "invalid_arguments", "mcp_error", "mcp_error", "unknown_tool"]}
// Tools, resources and prompts of the reference server.
const { everything } = MCP;
const refused = (call) => call.then(() => "made", (e) => e.code);
const { structuredContent } = await everything.getStructuredContent({ location: "Chicago" });
const image = (await everything.getTinyImage()).content.find((block) => block.type === "image");
const links = (await everything.getResourceLinks({ count: 2 })).content.filter((block) => block.type === "resource_link");
const { resources } = await everything.resources.list();
const { contents } = await everything.resources.read({ uri: "demo://resource/static/document/features.md" });
const blob = await everything.resources.read({ uri: "demo://resource/dynamic/blob/1" });
const { prompts } = await everything.prompts.list();
const simple = await everything.prompts.get({ name: "simple-prompt" });
const filled = await everything.prompts.get({ name: "args-prompt", arguments: { city: "Oslo", state: "none" } });
return {
  echo: (await everything.echo({ message: "hello" })).content[0].text,
  sum: (await everything.getSum({ a: 2, b: 40 })).content[0].text,
  weather: Object.keys(structuredContent).sort(),
  image: [image.mimeType, image.bytes > 0, typeof image.ref, image.data],
  links: links.length,
  resources: resources.length >= 5,
  contents: [contents[0].mimeType, contents[0].text.length > 100],
  blob: [blob.contents[0].bytes > 0, typeof blob.contents[0].ref],
  prompts: prompts.map(({ name }) => name),
  simple: simple.messages[0].content.text,
  filled: filled.messages[0].content.text,
  wrong: [
    await refused(everything.getSum({ a: 1 })),
    await refused(everything.getSum({ a: "x", b: 1 })),
    await refused(everything.resources.read({ uri: "demo://nothing" })),
    await refused(everything.prompts.get({ name: "nothing" })),
    await refused(everything.nothing({})),
  ],
};
