const x = ;
/*---
exec -> {"status":"failed","error":"Unexpected token (line 1, column 11)","code":"invalid_input","failure":{"kind":"syntax_error","phase":"input","line":1,"column":11,"frame":"1 | const x = ;\n  |           ^"}}
---*/
