try { await tools.panic_w({}) } catch (e) { return [e.code, e.effectStatus] }
/*---
exec -> 
---*/
