// Values of CEL at run time, their equality and order.
// Upstream: github.com/google/cel-go@v0.17.8:common/types
import type { Quantity } from '@kube-rx/apimachinery';

export class CelError extends Error {
  override readonly name: string = 'CelError';
}

export const noSuchOverload = (): CelError => new CelError('no such overload');

export class CelUint {
  readonly value: bigint;
  constructor(value: bigint) {
    this.value = value;
  }
}
export class CelDuration {
  readonly nanos: bigint;
  constructor(nanos: bigint) {
    this.nanos = nanos;
  }
}
export class CelTimestamp {
  readonly nanos: bigint;
  constructor(nanos: bigint) {
    this.nanos = nanos;
  }
}
export class CelTypeValue {
  readonly typeName: string;
  constructor(typeName: string) {
    this.typeName = typeName;
  }
}
export class CelOptional {
  readonly value: CelValue | undefined;
  constructor(value: CelValue | undefined) {
    this.value = value;
  }
}
export class CelQuantity {
  readonly quantity: Quantity;
  constructor(quantity: Quantity) {
    this.quantity = quantity;
  }
}
export class CelUrl {
  readonly parts: Readonly<Record<'scheme' | 'host' | 'hostname' | 'port' | 'escapedPath' | 'query', string>>;
  constructor(parts: CelUrl['parts']) {
    this.parts = parts;
  }
}

/** How elements of a list are told apart when lists are compared and added. */
export type ListIdentity =
  | { readonly kind: 'atomic' }
  | { readonly kind: 'set' }
  | { readonly kind: 'map'; readonly keyOf: (element: CelValue) => string };

export const ATOMIC: ListIdentity = { kind: 'atomic' };

export class CelList {
  readonly items: readonly CelValue[];
  readonly identity: ListIdentity;
  constructor(items: readonly CelValue[], identity: ListIdentity = ATOMIC) {
    this.items = items;
    this.identity = identity;
  }
}

/** A map; keys that are equal are one key, also an int and the double of the same value. */
export class CelMap {
  readonly #entries = new Map<string, readonly [CelValue, CelValue]>();

  constructor(entries: Iterable<readonly [CelValue, CelValue]>) {
    for (const entry of entries) this.#entries.set(keyText(entry[0]), entry);
  }

  get size(): number {
    return this.#entries.size;
  }

  get(key: CelValue): CelValue | undefined {
    return this.#entries.get(keyText(key))?.[1];
  }

  entries(): readonly (readonly [CelValue, CelValue])[] {
    return [...this.#entries.values()];
  }
}

function keyText(key: CelValue): string {
  if (typeof key === 'string') return `s${key}`;
  if (typeof key === 'boolean') return `b${key}`;
  const number = numberOf(key);
  if (number === undefined) throw new CelError(`unsupported key type: ${typeName(key)}`);
  return `n${number}`;
}

/** An object with declared fields, by escaped name. Fields are made when they are asked for. */
export interface CelStruct {
  readonly struct: true;
  readonly fieldNames: readonly string[];
  field(name: string): CelValue | undefined;
}

export type CelValue =
  | boolean
  | bigint
  | number
  | string
  | null
  | CelUint
  | Uint8Array
  | CelDuration
  | CelTimestamp
  | CelTypeValue
  | CelOptional
  | CelQuantity
  | CelUrl
  | CelList
  | CelMap
  | CelStruct;

export const isStruct = (value: CelValue): value is CelStruct =>
  typeof value === 'object' && value !== null && 'struct' in value;

export function typeName(value: CelValue): string {
  if (value === null) return 'null_type';
  switch (typeof value) {
    case 'boolean':
      return 'bool';
    case 'bigint':
      return 'int';
    case 'number':
      return 'double';
    case 'string':
      return 'string';
    default:
  }
  if (value instanceof CelUint) return 'uint';
  if (value instanceof Uint8Array) return 'bytes';
  if (value instanceof CelDuration) return 'google.protobuf.Duration';
  if (value instanceof CelTimestamp) return 'google.protobuf.Timestamp';
  if (value instanceof CelTypeValue) return 'type';
  if (value instanceof CelOptional) return 'optional_type';
  if (value instanceof CelQuantity) return 'kubernetes.Quantity';
  if (value instanceof CelUrl) return 'kubernetes.URL';
  if (value instanceof CelList) return 'list';
  return value instanceof CelMap ? 'map' : 'object';
}

/** The number of a numeric value: exact for integers, a bigint too for a whole double. */
export function numberOf(value: CelValue): bigint | number | undefined {
  if (typeof value === 'bigint') return value;
  if (value instanceof CelUint) return value.value;
  if (typeof value !== 'number') return undefined;
  return Number.isInteger(value) ? BigInt(value) : value;
}

export function equal(a: CelValue, b: CelValue): boolean {
  if (a === b) return true;
  const [left, right] = [numberOf(a), numberOf(b)];
  if (left !== undefined || right !== undefined) return left !== undefined && left === right;
  if (a === null || b === null || typeof a !== 'object' || typeof b !== 'object') return false;
  if (a instanceof CelList) return b instanceof CelList && equalLists(a, b);
  if (a instanceof CelMap) return b instanceof CelMap && equalMaps(a, b);
  if (isStruct(a)) return isStruct(b) && equalStructs(a, b);
  if (a instanceof Uint8Array) return b instanceof Uint8Array && Buffer.compare(a, b) === 0;
  if (a instanceof CelDuration) return b instanceof CelDuration && a.nanos === b.nanos;
  if (a instanceof CelTimestamp) return b instanceof CelTimestamp && a.nanos === b.nanos;
  if (a instanceof CelTypeValue) return b instanceof CelTypeValue && a.typeName === b.typeName;
  if (a instanceof CelQuantity) return b instanceof CelQuantity && a.quantity.compare(b.quantity) === 0;
  if (a instanceof CelUrl) return b instanceof CelUrl && JSON.stringify(a.parts) === JSON.stringify(b.parts);
  if (a instanceof CelOptional && b instanceof CelOptional) {
    if (a.value === undefined || b.value === undefined) return a.value === b.value;
    return equal(a.value, b.value);
  }
  return false;
}

function equalLists(a: CelList, b: CelList): boolean {
  if (a.items.length !== b.items.length) return false;
  const { identity } = a;
  if (identity.kind === 'set') return a.items.every((item) => b.items.some((other) => equal(item, other)));
  if (identity.kind === 'map') {
    const byKey = new Map(b.items.map((item) => [identity.keyOf(item), item]));
    return a.items.every((item) => {
      const other = byKey.get(identity.keyOf(item));
      return other !== undefined && equal(item, other);
    });
  }
  return a.items.every((item, at) => equal(item, b.items[at]!));
}

function equalMaps(a: CelMap, b: CelMap): boolean {
  if (a.size !== b.size) return false;
  return a.entries().every(([key, value]) => {
    const other = b.get(key);
    return other !== undefined && equal(value, other);
  });
}

function equalStructs(a: CelStruct, b: CelStruct): boolean {
  if (a.fieldNames.length !== b.fieldNames.length) return false;
  return a.fieldNames.every((name) => {
    const [left, right] = [a.field(name), b.field(name)];
    return left !== undefined && right !== undefined && equal(left, right);
  });
}

/** Negative, zero or positive; throws for what has no order. */
export function compare(a: CelValue, b: CelValue): number {
  const [left, right] = [numberOf(a), numberOf(b)];
  if (left !== undefined && right !== undefined) return left < right ? -1 : left > right ? 1 : 0;
  if (typeof a === 'string' && typeof b === 'string') return Buffer.compare(Buffer.from(a), Buffer.from(b));
  if (typeof a === 'boolean' && typeof b === 'boolean') return Number(a) - Number(b);
  if (a instanceof Uint8Array && b instanceof Uint8Array) return Buffer.compare(a, b);
  if (a instanceof CelDuration && b instanceof CelDuration) return order(a.nanos, b.nanos);
  if (a instanceof CelTimestamp && b instanceof CelTimestamp) return order(a.nanos, b.nanos);
  throw noSuchOverload();
}

const order = (a: bigint, b: bigint): number => (a < b ? -1 : a > b ? 1 : 0);

export function sizeOf(value: CelValue): number | undefined {
  if (typeof value === 'string') return [...value].length;
  if (value instanceof Uint8Array) return value.length;
  if (value instanceof CelList) return value.items.length;
  if (value instanceof CelMap) return value.size;
  return isStruct(value) ? value.fieldNames.length : undefined;
}
