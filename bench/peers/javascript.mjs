// Drives one peer that runs in Node and prints its medians in microseconds as one JSON line.
//
// `node javascript.mjs PEER FOLDER RUNS`: FOLDER is where the package is installed. Every run has a guest of
// its own, and every answer is checked, so that a peer which fails cannot look fast.

import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

const [peer, folder, runs] = [process.argv[2], process.argv[3], Number(process.argv[4])];
const require = createRequire(join(folder, 'here.js'));
const sum = (count) => (count * (count - 1)) / 2;
const program = (body) => `(async () => { ${body} })()`;
const TRIVIAL = program('return 1 + 1');
const calls = (count) =>
  program(`let n = 0; for (let i = 0; i < ${count}; i++) n += await echo(i); return n`);

// A tool that answers at once, but as a tool does: not before the guest has been left.
const soon = (answer) => void Promise.resolve().then(answer);

async function quickjsWasi() {
  const main = require.resolve('quickjs-wasi/quickjs.wasm');
  const { QuickJS } = await import(pathToFileURL(join(main, '..', 'dist', 'index.js')));
  const wasm = await WebAssembly.compile(readFileSync(main));

  async function result(vm, promise) {
    const settled = vm.resolvePromise(promise);
    vm.executePendingJobs();
    const { value, error } = await settled;
    if (error) throw new Error(String(vm.dump(error)));
    return vm.dump(value);
  }
  async function run(code) {
    const vm = await QuickJS.create({ wasm });
    const echo = vm.newFunction('echo', (given) => {
      const deferred = vm.newPromise();
      const number = given.toNumber();
      soon(() => {
        deferred.resolve(vm.newNumber(number));
        vm.executePendingJobs();
      });
      return deferred.handle;
    });
    vm.setProp(vm.global, 'echo', echo);
    const value = await result(vm, vm.evalCode(code));
    vm.dispose();
    return value;
  }
  const WAITS = 'globalThis.cell = new Promise((done) => { globalThis.answer = done })';
  async function suspend() {
    const vm = await QuickJS.create({ wasm });
    vm.evalCode(WAITS).dispose();
    vm.executePendingJobs();
    const bytes = QuickJS.serializeSnapshot(vm.snapshot());
    vm.dispose();
    return bytes;
  }
  async function resume(bytes) {
    const vm = await QuickJS.restore(QuickJS.deserializeSnapshot(bytes), wasm);
    vm.callFunction(vm.global.getProp('answer'), vm.undefined, vm.newNumber(1)).dispose();
    const value = await result(vm, vm.global.getProp('cell'));
    vm.dispose();
    return value;
  }
  return { run, suspend, resume };
}

async function quickjsEmscripten() {
  const engine = await require('quickjs-emscripten').getQuickJS();
  async function run(code) {
    const vm = engine.newContext();
    const echo = vm.newFunction('echo', (given) => {
      const deferred = vm.newPromise();
      const number = vm.getNumber(given);
      soon(() => vm.newNumber(number).consume((answer) => deferred.resolve(answer)));
      deferred.settled.then(vm.runtime.executePendingJobs);
      return deferred.handle;
    });
    echo.consume((handle) => vm.setProp(vm.global, 'echo', handle));
    const promise = vm.unwrapResult(vm.evalCode(code));
    const settled = vm.resolvePromise(promise);
    vm.runtime.executePendingJobs();
    const handle = vm.unwrapResult(await settled);
    const value = vm.dump(handle);
    handle.dispose();
    promise.dispose();
    vm.dispose();
    return value;
  }
  return { run };
}

async function isolatedVm() {
  const ivm = require('isolated-vm');
  const OPTIONS = '{ arguments: { copy: true }, result: { promise: true, copy: true } }';
  async function run(code) {
    const isolate = new ivm.Isolate({ memoryLimit: 64 });
    const context = await isolate.createContext();
    await context.global.set('host', new ivm.Reference(async (given) => given));
    const whole = `const echo = (given) => host.apply(undefined, [given], ${OPTIONS}); ${code}`;
    const value = await context.eval(whole, { promise: true, copy: true });
    isolate.dispose();
    return value;
  }
  return { run };
}

const medians = {};
async function measure(name, count, operation, expected) {
  const times = [];
  for (let round = -Math.ceil(count / 10); round < count; round++) {
    const begun = performance.now();
    const value = await operation();
    if (round >= 0) times.push((performance.now() - begun) * 1000);
    if (expected !== undefined && value !== expected) throw new Error(`${name}: ${value}`);
  }
  medians[name] = times.sort((a, b) => a - b)[times.length >> 1];
}

const peers = { 'quickjs-wasi': quickjsWasi, 'quickjs-emscripten': quickjsEmscripten, 'isolated-vm': isolatedVm };
const { run, suspend, resume } = await peers[peer]();
await measure('return 1 + 1', runs, () => run(TRIVIAL), 2);
for (const count of [1, 10, 100])
  await measure(`nested calls: ${count}`, runs, () => run(calls(count)), sum(count));
for (const [name, file] of [['fib(27)', 'fib.js'], ['sort of 100,000', 'sort.js']]) {
  const body = readFileSync(new URL(`../src/${file}`, import.meta.url), 'utf8');
  await measure(name, Math.ceil(runs / 30), () => run(program(body)));
}
if (suspend) {
  await measure('suspend', runs, suspend);
  const bytes = await suspend();
  await measure('resume', runs, () => resume(bytes), 1);
}
console.log(JSON.stringify({ peer, medians }));
process.exit(0);
