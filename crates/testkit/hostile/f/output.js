//## million-texts
//# expect: completed or failed guest_error output_limit_exceeded
//# value: ["RangeError",true]
let n = 0; try { for (; n < 1e6; n++) text('') } catch (e) { return [e.name, n <= 10000] } return n
//## million-jsons
//# expect: completed or failed guest_error output_limit_exceeded memory_limit_exceeded
let n = 0; try { for (; n < 1e6; n++) json([n]) } catch (e) { return [e.name, n <= 10000] }
//## large-texts
//# expect: completed or failed output_limit_exceeded memory_limit_exceeded
//# options: {"timeoutMs": 5000}
try { for (;;) text('x'.repeat(1e6)) } catch (e) { return e.name }
//## empty-in-every-leg
//# expect: completed or waiting or failed output_limit_exceeded guest_error
//# waits: 40
let n = 0; try { for (;; n++) { text(''); if (n % 1000 === 999) await yield_control() } } catch (e) { return n <= 10000 }
