//## call-in-a-finaliser-of-the-program
//# expect: completed
//# value: 1
try { return 1 } finally { tools.note_w({n: 1}) }
//## timer-after-the-end
//# expect: completed
//# value: 1
setTimeout(() => tools.note_w({late: 1}), 100000); return 1
