// Guards cached objects against being changed: a write then throws in strict code.
// Upstream: client-go@v0.30.3:tools/cache/mutation_detector.go
// Differs: prevents instead of detecting later.

export type FreezeMode = 'deep' | 'shallow' | 'off';

/** Freezes plain JSON in place; what is frozen already is taken to be frozen to the bottom. */
export function deepFreeze<T>(value: T): T {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value;
  Object.freeze(value);
  for (const each of Object.values(value)) deepFreeze(each);
  return value;
}

export function freeze<T>(value: T, mode: FreezeMode): T {
  if (mode === 'off') return value;
  return mode === 'deep' ? deepFreeze(value) : Object.freeze(value);
}
