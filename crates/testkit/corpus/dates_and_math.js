const fixed = new Date(Date.UTC(2024, 1, 29, 12, 30));
const parts = [fixed.toISOString(), fixed.getDay(), fixed.getTimezoneOffset(), Date.parse("2024-02-29")];
await tools.step({ k: 1 });
const rising = Date.now(); await tools.step({ k: 2 });
return { parts, later: Date.now() >= rising, random: Math.random() !== Math.random(), valid: new Date(NaN).getTime(), big: 2n ** 70n, hex: (255).toString(16), fixed };
