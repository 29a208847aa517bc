//## direct
//# expect: failed guest_error
return eval('1 + 1')
//## indirect
//# expect: completed
//# value: ["ReferenceError","ReferenceError","undefined"]
const seen = [];
for (const f of [() => (0, eval)('1'), () => { const e = eval; return e('1') }]) { try { seen.push(f()) } catch (e) { seen.push(e.name) } }
return [...seen, typeof globalThis.eval]
//## timers-take-no-text
//# expect: completed
//# value: "TypeError"
try { setTimeout('text("ran")', 0); return 'accepted' } catch (e) { return e.name }
//## regexp-and-json-do-not-evaluate
//# expect: completed
//# value: [["(0,eval)('1')"],"SyntaxError"]
let json; try { json = JSON.parse('(()=>1)()') } catch (e) { json = e.name }
return [["x"].map(x => x.replace('x', "(0,eval)('1')")), json]
