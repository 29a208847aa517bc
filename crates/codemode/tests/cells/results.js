const saved = await results.save([1, 2, {a: "x"}]);
const loaded = await results.load(saved.id);
const gone = [await results.delete(saved.id), await results.delete(saved.id)];
let error; try { await results.load(saved.id) } catch (e) { error = [e.message, e.code] }
return {saved, loaded, gone, error}
/*---
exec -> 
---*/
