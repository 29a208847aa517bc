return [await tools.plain(), await tools.parsed(), await tools.image(), (await tools.deep()).length].map(x =>
  Array.isArray(x) ? x.map(b => ({...b, ref: typeof b.ref})) : x)
/*---
exec -> 
---*/
