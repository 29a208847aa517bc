class MyError extends Error { constructor(m, o) { super(m, o); this.name = "MyError"; this.extra = [1]; } }
const out = [];
try { await tools.step({ k: 101 }); } catch (e) { out.push([e instanceof Error, e.message, typeof e.code]); }
try { try { await tools.step({ k: 102 }); } catch (e) { throw new MyError("outer", { cause: e }); } finally { out.push(await tools.step({ k: 1 })); } } catch (e) { out.push([e.name, e.cause.message, e.extra]); }
const f = async () => { try { return await tools.step({ k: 103 }); } catch { return "caught"; } finally { await tools.step({ k: 2 }); } };
out.push(await f());
label: for (const i of [1, 2, 3]) { for (const j of [1, 2]) { if (await tools.step({ k: i }) === 2) continue label; if (i === 3) break label; out.push(i * 10 + j); } }
return out;
