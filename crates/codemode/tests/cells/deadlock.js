await new Promise(() => {})
/*---
exec -> {"status":"failed","error":"the program waits for a promise that nothing can settle: no call and no timer is outstanding. A promise made with new Promise needs something that calls its resolve","code":"internal_error","failure":{"kind":"deadlock","phase":"guest"}}
---*/
