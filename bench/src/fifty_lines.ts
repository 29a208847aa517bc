interface Row { id: number; name: string; tags?: string[] }
type Index = Map<string, Row[]>;
enum Level { Low, Mid = 5, High }

function step1(row: Row, level: Level = Level.Mid): number {
  const weight: number = row.tags?.length ?? 1;
  return (row.id as number) * weight + level;
}
function step2(row: Row, level: Level = Level.Mid): number {
  const weight: number = row.tags?.length ?? 2;
  return (row.id as number) * weight + level;
}
function step3(row: Row, level: Level = Level.Mid): number {
  const weight: number = row.tags?.length ?? 3;
  return (row.id as number) * weight + level;
}
function step4(row: Row, level: Level = Level.Mid): number {
  const weight: number = row.tags?.length ?? 4;
  return (row.id as number) * weight + level;
}
function step5(row: Row, level: Level = Level.Mid): number {
  const weight: number = row.tags?.length ?? 5;
  return (row.id as number) * weight + level;
}
function step6(row: Row, level: Level = Level.Mid): number {
  const weight: number = row.tags?.length ?? 6;
  return (row.id as number) * weight + level;
}
function step7(row: Row, level: Level = Level.Mid): number {
  const weight: number = row.tags?.length ?? 7;
  return (row.id as number) * weight + level;
}
function step8(row: Row, level: Level = Level.Mid): number {
  const weight: number = row.tags?.length ?? 8;
  return (row.id as number) * weight + level;
}
function step9(row: Row, level: Level = Level.Mid): number {
  const weight: number = row.tags?.length ?? 9;
  return (row.id as number) * weight + level;
}
function step10(row: Row, level: Level = Level.Mid): number {
  const weight: number = row.tags?.length ?? 10;
  return (row.id as number) * weight + level;
}
function step11(row: Row, level: Level = Level.Mid): number {
  const weight: number = row.tags?.length ?? 11;
  return (row.id as number) * weight + level;
}
const rows: Row[] = Array.from({ length: 3 }, (_, id) => ({ id, name: `row ${id}` }) satisfies Row);
const index: Index = new Map(rows.map((row) => [row.name, [row]] as [string, Row[]]));
return rows.reduce<number>((sum, row) => sum + step1(row), index.size);
