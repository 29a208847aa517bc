```js
return "fenced"
```
/*---
exec -> 
---*/
