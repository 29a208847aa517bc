//## first-to-settle-wins
//# expect: completed
//# value: "fast"
const r = Promise.race([tools.gate({key: 'slow'}), tools.gate({key: 'fast'})]); await tools.open({key: 'fast'}); const w = await r; await tools.open({key: 'slow'}); return w.key
//## across-a-suspension
//# expect: completed
//# value: "a"
const r = Promise.race([tools.gate({key: 'b'}), tools.gate({key: 'a'})]); await yield_control(); await tools.open({key: 'a'}); const w = (await r).key; await tools.open({key: 'b'}); return w
//## rejections-keep-their-order
//# expect: completed
//# value: [1,2,3]
const seen = []; await Promise.allSettled([1, 2, 3].map(n => Promise.reject(n).catch(e => seen.push(e)))); return seen
//## any-and-all
//# expect: completed
//# value: ["k","broken"]
const any = Promise.any([tools.fail({}), tools.gate({key: 'k'})]); await tools.open({key: 'k'}); let all; try { await Promise.all([tools.echo({}), tools.fail({})]) } catch (e) { all = e.code } return [(await any).key, all]
//## one-by-one
//# expect: completed
//# value: [6,true]
const seen = []; const p = ['a', 'b', 'c'].map(k => tools.gate({key: k}).then(r => { seen.push(r.key); return Promise.resolve().then(() => seen.push(r.key + '!')) })); for (const k of ['c', 'a', 'b']) await tools.open({key: k}); await Promise.all(p); return [seen.length, seen.every((s, i) => i % 2 === 0 || s === seen[i - 1] + '!')]
//## unhandled-then-handled-after-yield
//# expect: completed
//# value: "x"
const p = Promise.reject(new Error('x')); await yield_control(); try { await p } catch (e) { return e.message }
//## unhandled-across-yield
//# expect: failed guest_error
Promise.reject(new Error('x')); await yield_control(); return 1
