const seen = [];
for (const name of ["fail", "fail_w", "fail_clean_w"]) {
  try { await tools[name]({}) } catch (e) { seen.push([e.message, e.code, e.tool, e.effectStatus]) }
}
return seen
/*---
exec -> 
---*/
