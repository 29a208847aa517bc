return await Promise.any([tools.fail({}), Promise.reject(new TypeError("own"))]);
/*---
exec -> {"status":"failed","error":"AggregateError (line 1, column 62)\none of them: Error: the tool is broken\none of them: TypeError: own","code":"internal_error","failure":{"kind":"guest_error","phase":"guest","line":1,"column":62,"frame":"1 | return await Promise.any([tools.fail({}), Promise.reject(new TypeError(\"own\"))]);\n  |                                                              ^"}}
---*/
