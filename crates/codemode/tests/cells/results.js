const saved = await results.save([1, 2, {a: "x"}]);
const loaded = await results.load(saved.id);
const gone = [await results.delete(saved.id), await results.delete(saved.id)];
let error; try { await results.load(saved.id) } catch (e) { error = [e.message, e.code] }
return {saved, loaded, gone, error}
/*---
exec -> {"status":"completed","value":{"saved":{"id":"r1","bytes":15,"count":3,"shape":"Array<number | { a: string }>","preview":"[1,2,{\"a\":\"x\"}]"},"loaded":[1,2,{"a":"x"}],"gone":[true,false],"error":["no saved result `r1`: this run has no saved results","unknown_result"]}}
---*/
