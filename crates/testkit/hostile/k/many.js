//## small-texts
//# expect: completed or failed output_limit_exceeded
let n = 0; try { for (; n < 1e6; n++) text('') } catch (e) { return e.name } 
//## small-jsons
//# expect: completed or failed output_limit_exceeded
let n = 0; try { for (; n < 1e6; n++) json(null) } catch (e) { return e.name }
//## up-to-the-bytes
//# expect: failed output_limit_exceeded or completed
for (let i = 0; i < 9000; i++) text('12345678'); return 1
//## alternating
//# expect: completed or failed output_limit_exceeded
try { for (let i = 0; i < 1e5; i++) { text('t'); json(i); console.log(i) } } catch (e) { return e.name }
