throw {code: 1}
/*---
exec -> {"status":"failed","error":"Error: {\"code\":1}","code":"internal_error","failure":{"kind":"guest_error","phase":"guest"}}
---*/
