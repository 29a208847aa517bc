// @exec: {"timeoutMs": 500, "colour": "red"}
return "directed"
/*---
exec -> 
---*/
