export interface Square {
  side: number;
}

// TODO: circles
export function area(square: Square): number {
  return square.side ** 2;
}
