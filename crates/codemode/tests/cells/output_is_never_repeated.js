text("before"); await yield_control(); text("between"); await yield_control(); text("last"); return 1
/*---
exec -> {"status":"waiting","runId":"<id>","seq":1,"reason":"yield","output":[{"type":"text","text":"before"}]}
wait -> {"status":"waiting","runId":"<id>","seq":2,"reason":"yield","output":[{"type":"text","text":"between"}]}
wait -> {"status":"completed","value":1,"output":[{"type":"text","text":"last"}]}
---*/
