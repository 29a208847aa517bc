const x = 1;
x + 1
/*---
exec -> {"status":"completed","value":null,"hint":"the last statement is an expression and was not returned; write `return` before it to get its value"}
---*/
