// @exec: {"timeoutMs": 500, "colour": "red"}
return "directed"
/*---
exec -> {"status":"completed","value":"directed","warnings":[{"kind":"directive_unknown_key","message":"`// @exec:` knows `language` and `timeoutMs`; `colour` was ignored","line":1,"column":1}]}
---*/
