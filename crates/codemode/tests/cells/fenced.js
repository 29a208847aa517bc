```js
return "fenced"
```
/*---
exec -> {"status":"completed","value":"fenced"}
---*/
