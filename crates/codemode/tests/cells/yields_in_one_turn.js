const [a, b] = await Promise.all([yield_control("a"), yield_control("b")]);
text("after"); return [a, b]
/*---
exec -> {"status":"waiting","runId":"<id>","seq":1,"reason":"yield"}
wait -> {"status":"completed","value":[{"status":"yielded","reason":"a"},{"status":"yielded","reason":"b"}],"output":[{"type":"text","text":"after"}]}
---*/
