const bytes = new Uint8Array([1, 2, 3]); const view = new DataView(bytes.buffer); const re = /a(b+)/g; re.exec("abbb");
const proxy = new Proxy({}, {get: (t, k) => "got " + String(k)}); const sym = Symbol.for("x"); const date = new Date(86400000);
const big = 2n ** 64n; const set = new Set([1]); const err = new RangeError("r");
await tools.echo({});
return [[...bytes], view.getUint16(0), re.lastIndex, proxy.foo, Symbol.keyFor(sym), date.toISOString(), String(big), set.has(1), err instanceof RangeError, structuredClone({a: [1]}), new URL("https://x.y/z?q=1").searchParams.get("q"), btoa("hi"), new TextDecoder().decode(new TextEncoder().encode("é"))]
/*---
exec -> {"status":"completed","value":[[1,2,3],258,4,"got foo","x","1970-01-02T00:00:00.000Z","18446744073709551616",true,true,{"a":[1]},"1","aGk=","é"]}
---*/
