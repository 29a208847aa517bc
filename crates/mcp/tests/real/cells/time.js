// servers: time
// returns: ["+5.75h", "18:15", "UTC", true]
const text = (result) => JSON.parse(result.content[0].text);
const converted = text(await MCP.time.convertTime({ source_timezone: "UTC", time: "12:30", target_timezone: "Asia/Kathmandu" }));
const now = text(await MCP.time.getCurrentTime({ timezone: "UTC" }));
const wrong = await MCP.time.getCurrentTime({ timezone: "Nowhere/Land" });
return [converted.time_difference, converted.target.datetime.slice(11, 16), now.timezone, wrong.isError];
