const bytes = new TextEncoder().encode("héllo €");
await tools.step({ k: 1 });
const back = new TextDecoder().decode(bytes);
const url = new URL("../b?x=1&y=%20#h", "https://ex.ample:8443/a/c");
url.searchParams.append("z", String(await tools.step({ k: 2 })));
const params = new URLSearchParams("a=1&a=2&b=+");
await tools.step({ k: 3 });
return { bytes: [...bytes], back, href: url.href, host: url.host, all: params.getAll("a"), b: params.get("b"), b64: atob(btoa("codecell")), clone: structuredClone({ d: new Date(0), m: new Map([[1, { x: 2 }]]) }).m.get(1) };
