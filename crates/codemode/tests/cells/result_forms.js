return [await tools.plain(), await tools.parsed(), await tools.image(), (await tools.deep()).length].map(x =>
  Array.isArray(x) ? x.map(b => ({...b, ref: typeof b.ref})) : x)
/*---
exec -> {"status":"completed","value":["{\"not\": \"parsed\"}",{"parsed":true},[{"type":"text","text":"a picture","ref":"undefined"},{"type":"image","mimeType":"image/png","bytes":3,"ref":"string"}],1]}
---*/
