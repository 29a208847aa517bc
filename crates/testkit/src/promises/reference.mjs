// Runs cases in this engine: one JSON case a line on standard input, one JSON outcome a line on
// standard output. The host below is the whole of it: calls settle by priority, each settlement and
// each timer is a macrotask of its own, timers fire at or before the instant of a settlement. As in
// this engine itself, the shortest delay is one millisecond.
import { createInterface } from 'node:readline';

const AsyncFunction = (async () => {}).constructor;
const turn = () => new Promise((resolve) => setImmediate(resolve));
let unhandled = new Map();
process.on('unhandledRejection', (reason, promise) => unhandled.set(promise, reason));
process.on('rejectionHandled', (promise) => unhandled.delete(promise));
// Engines word the failure of Promise.any differently.
const message = (e) => (e instanceof AggregateError ? 'aggregate' : e instanceof Error ? e.message : String(e));

async function run({ code, settlings }) {
  let now = 1_700_000_000_000_000;
  const output = [];
  const pending = [];
  let timers = [];
  let next = 1;
  unhandled = new Map();
  const tools = {
    step: ({ k }) => new Promise((resolve, reject) => pending.push({ k, order: next++, resolve, reject })),
  };
  const setTimeout = (f, ms = 0, ...rest) => {
    const id = next++;
    timers.push({ id, due: now + Math.max(1, Math.trunc(ms)) * 1000, f, rest });
    return id;
  };
  const clearTimeout = (id) => { timers = timers.filter((t) => t.id !== id); };
  let end;
  const main = new AsyncFunction('tools', 'text', 'setTimeout', 'clearTimeout', code)(
    tools, (t) => output.push(t), setTimeout, clearTimeout);
  main.then(() => { end = 'done'; }, (e) => { end = 'program: ' + message(e); });
  await turn();
  const finished = () => end !== undefined && pending.length === 0;
  const fire = async (until) => {
    while (!finished()) {
      const due = timers.filter((t) => t.due <= until).sort((a, b) => a.due - b.due || a.id - b.id)[0];
      if (!due) return;
      timers.splice(timers.indexOf(due), 1);
      now = Math.max(now, due.due);
      due.f(...due.rest);
      await turn();
    }
  };
  await fire(now);
  while (!finished()) {
    if (pending.length > 0) {
      const chosen = pending.slice().sort((a, b) =>
        settlings[a.k].priority - settlings[b.k].priority || a.order - b.order)[0];
      const { ok, gap_us } = settlings[chosen.k];
      const at = now + gap_us;
      await fire(at);
      now = at;
      pending.splice(pending.indexOf(chosen), 1);
      if (ok) chosen.resolve(chosen.k);
      else chosen.reject(new Error('no ' + chosen.k));
      await turn();
      await fire(now);
    } else if (timers.length > 0) {
      await fire(Math.min(...timers.map((t) => t.due)));
    } else {
      end = 'deadlock';
      break;
    }
  }
  await turn();
  if (end === 'done' && unhandled.size > 0) {
    end = 'unhandled: ' + [...unhandled.values()].map(message).sort().join(', ');
  }
  return { output, end };
}

for await (const line of createInterface({ input: process.stdin })) {
  process.stdout.write(JSON.stringify(await run(JSON.parse(line))) + '\n');
}
