return [new Error("a", { cause: new TypeError("b") }), new AggregateError([new Error("c"), 1], "d")];
/*---
exec -> {"status":"completed","value":[{"name":"Error","message":"a","cause":{"name":"TypeError","message":"b"}},{"name":"AggregateError","message":"d","errors":[{"name":"Error","message":"c"},1]}]}
---*/
