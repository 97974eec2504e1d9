// What functions do. They look at the values they get, since types may be known at run time only.
// Upstream: github.com/google/cel-go@v0.17.8:common/stdlib, cel/library.go, ext/sets.go, apiserver@v0.30.3:pkg/cel/library
import { parseQuantity, Quantity } from '@kube-rx/apimachinery';
import { add, divide, modulo, multiply, negate, subtract, toInt } from './arithmetic.ts';
import { authorizerFunctions } from './authorizer-library.ts';
import {
  orCelError,
  toCelBool,
  toCelBytes,
  toCelDouble,
  toCelDuration,
  toCelInt,
  toCelString,
  toCelTimestamp,
  toCelUint,
} from './conversions.ts';
import { type CelFunction, indexOfText, lastIndexOfText, stringFunctions } from './string-functions.ts';
import { dateInZone } from './time.ts';
import { parseUrl } from './url.ts';
import {
  CelDuration,
  CelError,
  CelList,
  CelMap,
  CelOptional,
  CelQuantity,
  CelTimestamp,
  CelTypeValue,
  CelUint,
  CelUrl,
  type CelValue,
  compare,
  equal,
  isStruct,
  noSuchOverload,
  sizeOf,
  typeName,
} from './values.ts';

const lists = (value: CelValue | undefined): readonly CelValue[] => {
  if (value instanceof CelList) return value.items;
  throw noSuchOverload();
};
const quantity = (value: CelValue | undefined): Quantity => {
  if (value instanceof CelQuantity) return value.quantity;
  if (typeof value === 'bigint') return parseQuantity(String(value));
  throw noSuchOverload();
};
const optional = (value: CelValue | undefined): CelOptional => {
  if (value instanceof CelOptional) return value;
  throw noSuchOverload();
};

/** An element of a list, a value of a map, a field; `undefined` when it is not there. */
export function lookUp(target: CelValue, key: CelValue): CelValue | undefined {
  if (target instanceof CelList) {
    const index = typeof key === 'bigint' ? Number(key) : key instanceof CelUint ? Number(key.value) : key;
    if (typeof index !== 'number' || !Number.isInteger(index))
      throw new CelError(`unsupported index type '${typeName(key)}' in list`);
    return target.items[index];
  }
  if (target instanceof CelMap) return target.get(key);
  if (isStruct(target) && typeof key === 'string') return target.field(key);
  // What has no parts just does not have this one.
  return undefined;
}

export function index(target: CelValue, key: CelValue): CelValue {
  const found = lookUp(target, key);
  if (found !== undefined) return found;
  const shown = String(typeof key === 'string' || typeof key === 'object' ? toCelString(key) : key);
  throw new CelError(target instanceof CelList ? `index out of bounds: ${shown}` : `no such key: ${shown}`);
}

function contains(needle: CelValue, haystack: CelValue): boolean {
  if (haystack instanceof CelList) return haystack.items.some((item) => equal(needle, item));
  if (haystack instanceof CelMap) return haystack.get(needle) !== undefined;
  if (isStruct(haystack)) return typeof needle === 'string' && haystack.fieldNames.includes(needle);
  throw noSuchOverload();
}

function extreme(name: string, sign: number): CelFunction {
  return ([list]) => {
    const items = lists(list);
    if (items.length === 0) throw new CelError(`${name} called on empty list`);
    return items.reduce((best, item) => (compare(item, best) * sign > 0 ? item : best));
  };
}

function sum(items: readonly CelValue[]): CelValue {
  const [first] = items;
  if (first === undefined) return 0n;
  return items.slice(1).reduce((total, item) => add(total, item), first);
}

const DATE_PARTS: Readonly<Record<string, (date: Date) => number>> = {
  getFullYear: (date) => date.getUTCFullYear(),
  getMonth: (date) => date.getUTCMonth(),
  getDayOfMonth: (date) => date.getUTCDate() - 1,
  getDate: (date) => date.getUTCDate(),
  getDayOfWeek: (date) => date.getUTCDay(),
  getDayOfYear: (date) => Math.floor((date.getTime() - Date.UTC(date.getUTCFullYear(), 0, 1)) / 86_400_000),
  getHours: (date) => date.getUTCHours(),
  getMinutes: (date) => date.getUTCMinutes(),
  getSeconds: (date) => date.getUTCSeconds(),
  getMilliseconds: (date) => date.getUTCMilliseconds(),
};
const DURATION_PARTS: Readonly<Record<string, bigint>> = {
  getHours: 3_600_000_000_000n,
  getMinutes: 60_000_000_000n,
  getSeconds: 1_000_000_000n,
  getMilliseconds: 1_000_000n,
};

function timePart(name: string): CelFunction {
  return ([value, zone]) => {
    if (value instanceof CelDuration && DURATION_PARTS[name] !== undefined) {
      const whole = value.nanos / DURATION_PARTS[name];
      // Milliseconds are those of the last second.
      return name === 'getMilliseconds' ? whole % 1000n : whole;
    }
    if (!(value instanceof CelTimestamp)) throw noSuchOverload();
    const date = orCelError(() => dateInZone(value.nanos, typeof zone === 'string' ? zone : undefined));
    return BigInt(DATE_PARTS[name]!(date));
  };
}

function lastIndex(items: readonly CelValue[], wanted: CelValue): number {
  for (let at = items.length - 1; at >= 0; at--) if (equal(items[at]!, wanted)) return at;
  return -1;
}

/** The value of a quantity that is an int64. */
function wholeNumber(of: Quantity): bigint | undefined {
  const value = of.value();
  return Quantity.of(value).equals(of) && BigInt.asIntN(64, value) === value ? value : undefined;
}

const isZero = (value: CelValue): boolean => {
  if (value === null || value === false || value === 0n || value === 0 || value === '') return true;
  if (value instanceof CelUint) return value.value === 0n;
  if (value instanceof CelDuration) return value.nanos === 0n;
  return sizeOf(value) === 0;
};

const urlPart =
  (part: keyof CelUrl['parts']): CelFunction =>
  ([url]) => {
    if (url instanceof CelUrl) return url.parts[part];
    throw noSuchOverload();
  };

function query([url]: readonly CelValue[]): CelValue {
  if (!(url instanceof CelUrl)) throw noSuchOverload();
  const values = new Map<string, CelValue[]>();
  for (const [name, value] of new URLSearchParams(url.parts.query)) {
    values.set(name, [...(values.get(name) ?? []), value]);
  }
  return new CelMap([...values].map(([name, all]) => [name, new CelList(all)] as const));
}

const attempt = (run: () => unknown): boolean => {
  try {
    run();
    return true;
  } catch {
    return false;
  }
};

const relation =
  (holds: (order: number) => boolean): CelFunction =>
  ([a, b]) => {
    // Not a number compares to nothing.
    if ((typeof a === 'number' && Number.isNaN(a)) || (typeof b === 'number' && Number.isNaN(b))) return false;
    return holds(compare(a!, b!));
  };

export const functions: ReadonlyMap<string, CelFunction> = new Map<string, CelFunction>([
  ...Object.entries(stringFunctions),
  ...Object.entries(authorizerFunctions),
  ...Object.keys(DATE_PARTS).map((name) => [name, timePart(name)] as const),
  [
    '!_',
    ([a]) => {
      if (typeof a === 'boolean') return !a;
      throw noSuchOverload();
    },
  ],
  ['-_', ([a]) => negate(a!)],
  ['_+_', ([a, b]) => add(a!, b!)],
  ['_-_', ([a, b]) => subtract(a!, b!)],
  ['_*_', ([a, b]) => multiply(a!, b!)],
  ['_/_', ([a, b]) => divide(a!, b!)],
  ['_%_', ([a, b]) => modulo(a!, b!)],
  ['_==_', ([a, b]) => equal(a!, b!)],
  ['_!=_', ([a, b]) => !equal(a!, b!)],
  ['_<_', relation((order) => order < 0)],
  ['_<=_', relation((order) => order <= 0)],
  ['_>_', relation((order) => order > 0)],
  ['_>=_', relation((order) => order >= 0)],
  ['@in', ([a, b]) => contains(a!, b!)],
  [
    '_[_]',
    ([a, b]) => {
      if (!(a instanceof CelOptional)) return index(a!, b!);
      return new CelOptional(a.value === undefined ? undefined : lookUp(a.value, b!));
    },
  ],
  ['_[?_]', ([a, b]) => new CelOptional(lookUp(a!, b!))],
  [
    'size',
    ([a]) => {
      const size = sizeOf(a!);
      if (size === undefined || isStruct(a!)) throw noSuchOverload();
      return BigInt(size);
    },
  ],
  ['type', ([a]) => new CelTypeValue(typeName(a!))],
  ['dyn', ([a]) => a!],
  ['int', ([a]) => toCelInt(a!)],
  ['uint', ([a]) => toCelUint(a!)],
  ['double', ([a]) => toCelDouble(a!)],
  ['string', ([a]) => toCelString(a!)],
  ['bytes', ([a]) => toCelBytes(a!)],
  ['bool', ([a]) => toCelBool(a!)],
  ['duration', ([a]) => toCelDuration(a!)],
  ['timestamp', ([a]) => toCelTimestamp(a!)],
  [
    'indexOf',
    (args) =>
      args[0] instanceof CelList
        ? BigInt(lists(args[0]).findIndex((item) => equal(item, args[1]!)))
        : indexOfText(args),
  ],
  [
    'lastIndexOf',
    (args) => (args[0] instanceof CelList ? BigInt(lastIndex(lists(args[0]), args[1]!)) : lastIndexOfText(args)),
  ],
  ['isSorted', ([list]) => lists(list).every((item, at, all) => at === 0 || compare(all[at - 1]!, item) <= 0)],
  ['sum', ([list]) => sum(lists(list))],
  ['min', extreme('min', -1)],
  ['max', extreme('max', 1)],
  ['sets.contains', ([a, b]) => lists(b).every((item) => contains(item, a!))],
  [
    'sets.equivalent',
    ([a, b]) => lists(b).every((item) => contains(item, a!)) && lists(a).every((item) => contains(item, b!)),
  ],
  ['sets.intersects', ([a, b]) => lists(a).some((item) => contains(item, b!))],
  ['url', ([a]) => orCelError(() => parseUrl(String(a)))],
  ['isURL', ([a]) => attempt(() => parseUrl(String(a)))],
  ['getScheme', urlPart('scheme')],
  ['getHost', urlPart('host')],
  ['getHostname', urlPart('hostname')],
  ['getPort', urlPart('port')],
  ['getEscapedPath', urlPart('escapedPath')],
  ['getQuery', query],
  ['quantity', ([a]) => new CelQuantity(orCelError(() => parseQuantity(String(a))))],
  ['isQuantity', ([a]) => attempt(() => parseQuantity(String(a)))],
  ['sign', ([a]) => BigInt(quantity(a).sign)],
  ['isGreaterThan', ([a, b]) => quantity(a).compare(quantity(b)) > 0],
  ['isLessThan', ([a, b]) => quantity(a).compare(quantity(b)) < 0],
  ['compareTo', ([a, b]) => BigInt(quantity(a).compare(quantity(b)))],
  ['add', ([a, b]) => new CelQuantity(quantity(a).add(quantity(b)))],
  ['sub', ([a, b]) => new CelQuantity(quantity(a).subtract(quantity(b)))],
  ['isInteger', ([a]) => wholeNumber(quantity(a)) !== undefined],
  [
    'asInteger',
    ([a]) => {
      const value = wholeNumber(quantity(a));
      if (value === undefined) throw new CelError('cannot convert value to integer');
      return toInt(value);
    },
  ],
  ['asApproximateFloat', ([a]) => quantity(a).toNumber()],
  ['optional.of', ([a]) => new CelOptional(a!)],
  ['optional.ofNonZeroValue', ([a]) => new CelOptional(isZero(a!) ? undefined : a!)],
  ['optional.none', () => new CelOptional(undefined)],
  ['hasValue', ([a]) => optional(a).value !== undefined],
  [
    'value',
    ([a]) => {
      const { value } = optional(a);
      if (value === undefined) throw new CelError('optional.none() dereference');
      return value;
    },
  ],
]);
