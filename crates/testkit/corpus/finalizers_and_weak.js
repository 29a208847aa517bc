let target = { name: "kept" };
const ref = typeof WeakRef === "function" ? new WeakRef(target) : { deref: () => target };
const registry = typeof FinalizationRegistry === "function" ? new FinalizationRegistry(() => {}) : null;
registry?.register(target, 1);
await tools.step({ k: 1 });
const alive = ref.deref()?.name;
await tools.step({ k: 2 });
return { alive, same: ref.deref() === target };
