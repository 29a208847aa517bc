await tools.echo_w({a: 1});
await tools.fail_w({});
/*---
exec -> {"status":"failed","error":"Error: the tool is broken (line 2, column 13). These calls took effect: c1 openclaw:core:echo_w. Do not make them again. It is unknown whether these took effect: c2 openclaw:core:fail_w. Look before you repeat them.","code":"internal_error","failure":{"kind":"nested_tool_failed","phase":"bridge","line":2,"column":13,"frame":"2 | await tools.fail_w({});\n  |             ^"},"effects":{"committed":1,"failed":0,"unknown":1,"notStarted":0,"calls":[{"id":"c2","tool":"openclaw:core:fail_w","state":"unknown","effect":"write"},{"id":"c1","tool":"openclaw:core:echo_w","state":"committed","effect":"write"}]}}
---*/
