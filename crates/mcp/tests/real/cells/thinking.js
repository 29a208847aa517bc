// servers: sequential-thinking
// returns: [3, false]
// Calls one after the other, each with what the last one said.
let last;
for (let thoughtNumber = 1; thoughtNumber <= 3; thoughtNumber += 1) {
  const result = await MCP.sequentialThinking.sequentialthinking({
    thought: `thought ${thoughtNumber}`, thoughtNumber, totalThoughts: 3, nextThoughtNeeded: thoughtNumber < 3,
  });
  last = result.structuredContent;
}
return [last.thoughtHistoryLength, last.nextThoughtNeeded];
