const seen = [];
for (const name of ["fail", "fail_w", "fail_clean_w"]) {
  try { await tools[name]({}) } catch (e) { seen.push([e.message, e.code, e.tool, e.effectStatus]) }
}
return seen
/*---
exec -> {"status":"completed","value":[["the tool is broken","broken","openclaw:core:fail","failed"],["the tool is broken","broken","openclaw:core:fail_w","unknown"],["nothing was changed","refused","openclaw:core:fail_clean_w","failed"]],"effects":{"committed":0,"failed":2,"unknown":1,"notStarted":0,"calls":[{"id":"c2","tool":"openclaw:core:fail_w","state":"unknown","effect":"write"},{"id":"c3","tool":"openclaw:core:fail_clean_w","state":"failed","effect":"write"},{"id":"c1","tool":"openclaw:core:fail","state":"failed","effect":"read"}]}}
---*/
