//## strings-and-comments
//# expect: completed
//# value: ["import('fs')","require('fs')","export default eval","import.meta"]
// import fs from 'fs'; require('x'); export default 1
/* import('fs') */
return ["import('fs')", 'require(\'fs\')', `export default ${'eval'}`, "import.meta"]
//## expressions-and-names
//# expect: completed
//# value: [true,1,2,3,4]
const o = {import: 1, require: 2, export: 3, eval: 4};
return [/import\('fs'\)|require\(/.test("import('fs')"), o.import, o['require'], o.export, o.eval]
//## local-names
//# expect: completed
//# value: [7,"ok"]
const f = {require(x) { return x }, import: () => 'ok'};
return [f.require(7), f.import()]
//## templates-in-templates
//# expect: completed
//# value: "a import('x') b require('y') c"
return `a ${`import('x') ${`b require('y')`}`} c`
