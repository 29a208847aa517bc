const buffer = new ArrayBuffer(64, { maxByteLength: 1024 });
const bytes = new Uint8Array(buffer); const view = new DataView(buffer, 8);
for (let i = 0; i < 4; i++) { view.setUint16(i * 2, 1000 + (await tools.step({ k: i })), true); bytes[i] = i; }
buffer.resize(128);
const floats = new Float64Array([1.5, NaN, -0, Infinity]);
const big = new BigInt64Array([1n, -2n]);
await tools.step({ k: 9 });
return { head: [...bytes.slice(0, 16)], length: bytes.length, floats: [...floats].map(String), big: [...big].map(String), zero: Object.is(floats[2], -0) };
