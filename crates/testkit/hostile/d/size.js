//## hundred-megabytes-out
//# expect: completed or failed memory_limit_exceeded
const s = 'x'.repeat(40e6); try { await tools.echo({s}); return 'taken' } catch (e) { return e.name }
//## refused-before-it-is-copied
//# expect: completed
//# value: "refused"
const s = 'x'.repeat(17 << 20); try { await tools.echo({s}); return 'taken' } catch (e) { return 'refused' }
//## hundred-megabytes-in
//# expect: completed
//# value: "refused"
try { await tools.big({bytes: 100e6}); return 'taken' } catch (e) { return 'refused' }
//## reply-larger-than-memory
//# expect: completed or failed memory_limit_exceeded
//# options: {"memoryLimitBytes": 2097152}
try { await tools.big({bytes: 6e6}); return 'taken' } catch (e) { return 'refused' }
//## megabyte-both-ways
//# expect: completed
//# value: [1000000,1000000]
const s = await tools.big({bytes: 1e6}); const r = await tools.echo({s}); return [s.length, r.s.length]
//## long-names
//# expect: completed
//# value: "refused"
try { await tools.call('x'.repeat(5e6), {}); return 'called' } catch { return 'refused' }
//## long-queries
//# expect: completed
const seen = []; for (const q of ['x '.repeat(2e6), Array.from({length: 1e5}, (_, i) => 'q' + i), '('.repeat(1e5), '\u0000'.repeat(1000)]) try { seen.push((await tools.search(q, {limit: 1e9})).length <= 50) } catch { seen.push('refused') } return seen
