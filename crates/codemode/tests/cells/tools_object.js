return ["echo" in tools, "nope" in tools, Object.keys(tools).includes("echo"), typeof tools.then, typeof tools.toJSON, typeof tools.nope, tools.echo === tools.echo]
/*---
exec -> {"status":"completed","value":[true,false,true,"undefined","undefined","function",true]}
---*/
