let s = 1;
const a = Array.from({ length: 100000 }, () => s = (s * 48271) % 2147483647);
a.sort((x, y) => x - y);
return a[0]
