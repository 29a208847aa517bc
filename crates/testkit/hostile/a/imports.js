//## functions-show-no-source-of-the-host
//# expect: completed
//# value: true
return [text, json, tools.call, tools.search, setTimeout, yield_control, console.log, results.save]
  .every(f => /\[native code\]/.test(Function.prototype.toString.call(f)))
//## no-way-out-through-errors
//# expect: completed
//# value: []
const out = [];
for (const f of [() => text(Symbol()), () => tools.call(), () => results.load({}), () => setTimeout(1), () => structuredClone(() => 1), () => atob('*')]) {
  try { await f() } catch (e) {
    for (let at = e; at; at = Object.getPrototypeOf(at)) {
      if (at.constructor && at.constructor.constructor && at.constructor.constructor !== Function) out.push(String(at.constructor));
    }
  }
}
return out
//## no-caller
//# expect: completed
//# value: [true,true]
function f() { return f.caller }
let refused = false, args = false;
try { refused = f() == null } catch { refused = true }
try { args = (function () { return arguments.callee.caller })() == null } catch { args = true }
return [refused, args]
