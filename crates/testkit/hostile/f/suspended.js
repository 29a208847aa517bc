//## grows-between-legs
//# expect: failed snapshot_limit_exceeded
//# waits: 60
const kept = []; for (;;) { kept.push(Array.from({length: 50000}, (_, i) => 'value ' + i)); await yield_control() }
//## grows-after-the-restore
//# expect: failed memory_limit_exceeded
const kept = []; await yield_control(); for (;;) kept.push(new Uint8Array(1 << 20).fill(1))
//## garbage-is-not-kept
//# expect: completed
//# value: "small"
for (let i = 0; i < 10; i++) { let s = []; for (let k = 0; k < 2000; k++) s.push('x'.repeat(1000) + k); s = null; await yield_control() } return 'small'
//## pending-when-suspended
//# expect: waiting
//# options: {"timeoutMs": 300}
//# waits: 1
const kept = new Array(100000).fill('pending'); await tools.hang({}); return kept.length
