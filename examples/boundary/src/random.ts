// Random numbers that a seed brings back.

export interface Random {
  /** In [0, 1). */
  next(): number;
  /** A whole number below `limit`. */
  below(limit: number): number;
  pick<T>(items: readonly T[]): T | undefined;
}

export function seededRandom(seed: number): Random {
  let state = seed | 0;
  const next = (): number => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const below = (limit: number): number => Math.floor(next() * limit);
  return { next, below, pick: (items) => items[below(items.length)] };
}
