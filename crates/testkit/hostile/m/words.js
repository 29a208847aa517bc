Reserved words, and names that the language looks up on any object.
//## servers-and-tools-called-like-parts-of-objects
//# expect: completed
//# servers: nasty
//# value: [true, true, true]
const {servers} = await MCP.$api();
const named = (name) => servers.find((server) => server.serverName === name).identifier;
const words = ['then', 'toString', 'delete', '__proto__', '$api'].map(named);
const odd = (await MCP.nasty.$api()).tools.map((tool) => tool.method);
const language = ['then', 'toString', 'constructor', 'prototype', '__proto__', 'toJSON', 'valueOf'];
return [
  words.every((word) => typeof MCP[word] === 'object' && /^[a-z][a-zA-Z0-9]*$/.test(word)),
  language.every((word) => MCP[word] === undefined && MCP.nasty[word] === undefined && !odd.includes(word)),
  ['delete', 'class', 'await', 'eval', 'arguments', 'yield', 'undefined'].every((word) => !odd.includes(word)),
];
//## servers-are-no-thenables
//# expect: completed
//# servers: nasty
//# value: [true, true, "[]"]
const same = (await MCP.nasty) === MCP.nasty && (await Promise.all([MCP]))[0] === MCP;
let text = 'none';
try { text = `${MCP.nasty}`; } catch (error) { text = error.name; }
return [same, text === 'TypeError' || typeof text === 'string', JSON.stringify(Object.getOwnPropertySymbols(MCP.nasty))];
//## poisoned-prototypes-do-not-reach-a-call
//# expect: completed
//# servers: nasty
//# value: {"a": 1}
Object.prototype.toJSON = () => 'forged';
Object.prototype.isError = true;
Array.prototype.toJSON = () => 'forged';
Object.defineProperty(Object.prototype, 'structuredContent', {get() { return 'forged'; }, configurable: true});
const result = await MCP.nasty.delete2({a: 1});
const own = Object.getOwnPropertyDescriptor(result, 'structuredContent').value;
delete Object.prototype.toJSON;
delete Array.prototype.toJSON;
delete Object.prototype.isError;
delete Object.prototype.structuredContent;
return own;
