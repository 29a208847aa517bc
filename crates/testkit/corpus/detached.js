const log = [];
(async () => { for (let i = 0; i < 3; i++) { log.push(await tools.step({ k: i })); text("bg " + i); } })();
await tools.step({ k: 7 });
return log.length;
