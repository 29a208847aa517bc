let n = 1;
const back = await yield_control("because");
n += 1;
return {n, back}
/*---
exec -> {"status":"waiting","runId":"<id>","seq":1,"reason":"yield"}
wait -> {"status":"completed","value":{"n":2,"back":{"status":"yielded","reason":"because"}}}
---*/
