//## spin-after-each-yield
//# expect: failed guest_deadline
//# options: {"timeoutMs": 2000, "maxGuestMs": 150}
//# waits: 500
for (;;) { await yield_control(); for (let i = 0; i < 1e6; i++); }
//## timers
//# expect: completed or waiting or failed guest_deadline
//# options: {"timeoutMs": 200, "maxGuestMs": 200}
for (let i = 0; i < 20; i++) await new Promise(r => setTimeout(r, 10)); for (;;) {}
//## calls-between-loops
//# expect: failed guest_deadline
//# options: {"timeoutMs": 5000, "maxGuestMs": 150}
for (;;) { await tools.echo({}); for (let i = 0; i < 1e5; i++); }
