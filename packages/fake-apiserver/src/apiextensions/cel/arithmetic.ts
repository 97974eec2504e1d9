// Operators on numbers, texts, lists and times.
// Upstream: github.com/google/cel-go@v0.17.8:common/types/int.go, overflow.go, string.go, list.go
import {
  CelDuration,
  CelError,
  CelList,
  CelTimestamp,
  CelUint,
  type CelValue,
  equal,
  noSuchOverload,
} from './values.ts';

const MAX_INT = 2n ** 63n - 1n;
const MIN_INT = -(2n ** 63n);
const MAX_UINT = 2n ** 64n - 1n;

export function toInt(value: bigint): bigint {
  if (value > MAX_INT || value < MIN_INT) throw new CelError('integer overflow');
  return value;
}

export function toUint(value: bigint): CelUint {
  if (value > MAX_UINT || value < 0n) throw new CelError('unsigned integer overflow');
  return new CelUint(value);
}

const toDuration = (nanos: bigint): CelDuration => new CelDuration(toInt(nanos));
// The first and the last second that RFC 3339 can write.
const MIN_TIME = -62_135_596_800n * 1_000_000_000n;
const MAX_TIME = 253_402_300_800n * 1_000_000_000n;

function toTimestamp(nanos: bigint): CelTimestamp {
  if (nanos < MIN_TIME || nanos >= MAX_TIME) throw new CelError('timestamp overflow');
  return new CelTimestamp(nanos);
}

export function add(a: CelValue, b: CelValue): CelValue {
  if (typeof a === 'bigint' && typeof b === 'bigint') return toInt(a + b);
  if (typeof a === 'number' && typeof b === 'number') return a + b;
  if (typeof a === 'string' && typeof b === 'string') return a + b;
  if (a instanceof CelUint && b instanceof CelUint) return toUint(a.value + b.value);
  if (a instanceof Uint8Array && b instanceof Uint8Array) return Buffer.concat([a, b]);
  if (a instanceof CelList && b instanceof CelList) return addLists(a, b);
  if (a instanceof CelDuration && b instanceof CelDuration) return toDuration(a.nanos + b.nanos);
  if (a instanceof CelDuration && b instanceof CelTimestamp) return toTimestamp(a.nanos + b.nanos);
  if (a instanceof CelTimestamp && b instanceof CelDuration) return toTimestamp(a.nanos + b.nanos);
  throw noSuchOverload();
}

/** Sets keep one of each; maps take the new element of a key in the old one's place. */
function addLists(a: CelList, b: CelList): CelList {
  const { identity } = a;
  if (identity.kind === 'set') {
    const fresh = b.items.filter((item) => !a.items.some((other) => equal(item, other)));
    return new CelList([...a.items, ...fresh], identity);
  }
  if (identity.kind === 'map') {
    const merged = new Map(a.items.map((item) => [identity.keyOf(item), item]));
    for (const item of b.items) merged.set(identity.keyOf(item), item);
    return new CelList([...merged.values()], identity);
  }
  return new CelList([...a.items, ...b.items]);
}

export function subtract(a: CelValue, b: CelValue): CelValue {
  if (typeof a === 'bigint' && typeof b === 'bigint') return toInt(a - b);
  if (typeof a === 'number' && typeof b === 'number') return a - b;
  if (a instanceof CelUint && b instanceof CelUint) return toUint(a.value - b.value);
  if (a instanceof CelDuration && b instanceof CelDuration) return toDuration(a.nanos - b.nanos);
  if (a instanceof CelTimestamp && b instanceof CelTimestamp) return toDuration(a.nanos - b.nanos);
  if (a instanceof CelTimestamp && b instanceof CelDuration) return toTimestamp(a.nanos - b.nanos);
  throw noSuchOverload();
}

export function multiply(a: CelValue, b: CelValue): CelValue {
  if (typeof a === 'bigint' && typeof b === 'bigint') return toInt(a * b);
  if (typeof a === 'number' && typeof b === 'number') return a * b;
  if (a instanceof CelUint && b instanceof CelUint) return toUint(a.value * b.value);
  throw noSuchOverload();
}

export function divide(a: CelValue, b: CelValue): CelValue {
  if (typeof a === 'number' && typeof b === 'number') return a / b;
  if (typeof a === 'bigint' && typeof b === 'bigint') {
    if (b === 0n) throw new CelError('division by zero');
    return toInt(a / b);
  }
  if (a instanceof CelUint && b instanceof CelUint) {
    if (b.value === 0n) throw new CelError('division by zero');
    return new CelUint(a.value / b.value);
  }
  throw noSuchOverload();
}

export function modulo(a: CelValue, b: CelValue): CelValue {
  if (typeof a === 'bigint' && typeof b === 'bigint') {
    if (b === 0n) throw new CelError('modulus by zero');
    return a % b;
  }
  if (a instanceof CelUint && b instanceof CelUint) {
    if (b.value === 0n) throw new CelError('modulus by zero');
    return new CelUint(a.value % b.value);
  }
  throw noSuchOverload();
}

export function negate(value: CelValue): CelValue {
  if (typeof value === 'bigint') return toInt(-value);
  if (typeof value === 'number') return -value;
  throw noSuchOverload();
}
