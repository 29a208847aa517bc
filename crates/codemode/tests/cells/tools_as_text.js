let text;
try { text = "" + tools; } catch (e) { text = e.name; }
return [text, typeof tools.toString, typeof tools.valueOf, typeof tools.hasOwnProperty];
/*---
exec -> {"status":"completed","value":["TypeError","undefined","undefined","undefined"]}
---*/
