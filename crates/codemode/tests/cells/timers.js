const seen = [];
setTimeout(() => seen.push("30"), 30); setTimeout(() => seen.push("10"), 10); const t = setTimeout(() => seen.push("never"), 5); clearTimeout(t);
await new Promise(r => setTimeout(r, 50));
return seen
/*---
exec -> {"status":"completed","value":["10","30"]}
---*/
