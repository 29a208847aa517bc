//## calls-from-to-json
//# expect: completed
let n = 0; const o = {toJSON() { if (n++ < 50) tools.note_w({n}); return {n} }}; const r = await tools.echo({o}); return typeof r
//## output-from-a-getter-of-output
//# expect: completed
let n = 0; const o = {get a() { if (n++ < 100) json(o); return 1 }}; json(o); return n <= 101
//## yield-from-a-getter
//# expect: completed or failed guest_error
const o = {get a() { yield_control('again'); return 1 }}; await tools.echo(o); return 'through'
//## search-inside-a-comparison
//# expect: completed
let n = 0; [3, 1, 2].sort((a, b) => { n++; tools.search('echo'); return a - b }); return n > 0
//## console-inside-console
//# expect: completed
const o = {toString() { console.log('inner'); return 'outer' }, get x() { console.log('getter'); return 1 }}; console.log(o, `${o}`); return 1
//## save-inside-save
//# expect: completed or failed guest_error nested_tool_failed
const o = {get a() { results.save(1); return 1 }}; const r = await results.save(o); return typeof r.id
