const out = [];
for (let i = 0; i < 40; i++) out.push(tools.echo({i}));
return (await Promise.all(out)).map(x => x.i).join()
/*---
exec -> 
---*/
