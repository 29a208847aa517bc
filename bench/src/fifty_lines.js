// The same program as in TypeScript, written in JavaScript.
// The levels are an object.
const Level = { Low: 0, Mid: 5, High: 6 };

function step1(row, level = Level.Mid) {
  const weight = row.tags?.length ?? 1;
  return row.id * weight + level;
}
function step2(row, level = Level.Mid) {
  const weight = row.tags?.length ?? 2;
  return row.id * weight + level;
}
function step3(row, level = Level.Mid) {
  const weight = row.tags?.length ?? 3;
  return row.id * weight + level;
}
function step4(row, level = Level.Mid) {
  const weight = row.tags?.length ?? 4;
  return row.id * weight + level;
}
function step5(row, level = Level.Mid) {
  const weight = row.tags?.length ?? 5;
  return row.id * weight + level;
}
function step6(row, level = Level.Mid) {
  const weight = row.tags?.length ?? 6;
  return row.id * weight + level;
}
function step7(row, level = Level.Mid) {
  const weight = row.tags?.length ?? 7;
  return row.id * weight + level;
}
function step8(row, level = Level.Mid) {
  const weight = row.tags?.length ?? 8;
  return row.id * weight + level;
}
function step9(row, level = Level.Mid) {
  const weight = row.tags?.length ?? 9;
  return row.id * weight + level;
}
function step10(row, level = Level.Mid) {
  const weight = row.tags?.length ?? 10;
  return row.id * weight + level;
}
function step11(row, level = Level.Mid) {
  const weight = row.tags?.length ?? 11;
  return row.id * weight + level;
}
const rows = Array.from({ length: 3 }, (_, id) => ({ id, name: `row ${id}` }));
const index = new Map(rows.map((row) => [row.name, [row]]));
return rows.reduce((sum, row) => sum + step1(row), index.size);
