// Passes an image on: the program sees a reference, the client gets the image.
return (await MCP.everything.getTinyImage()).content.find((block) => block.type === "image");
