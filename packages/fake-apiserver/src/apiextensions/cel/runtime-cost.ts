// What a call costs once its arguments are known.
// Upstream: github.com/google/cel-go@v0.17.8:interpreter/runtimecost.go#costCall, apiserver@v0.30.3:pkg/cel/library/cost.go#CallCost
import { CelList, CelMap, type CelValue, isStruct, sizeOf } from './values.ts';

export const STRING_TRAVERSAL = 0.1;
export const REGEX_LENGTH = 0.25;
/** An authorizer may be far away. */
const AUTHORIZER_CHECK = 350_000;

const size = (value: CelValue | undefined): number => (value === undefined ? 1 : (sizeOf(value) ?? 1));
const scaled = (units: number, factor: number): number => Math.ceil(units * factor);

function traversal(value: CelValue | undefined): number {
  if (value === undefined) return 0;
  if (typeof value === 'string') return Math.trunc(Buffer.byteLength(value) * STRING_TRAVERSAL);
  if (value instanceof Uint8Array) return Math.trunc(value.length * STRING_TRAVERSAL);
  if (value instanceof CelList) return value.items.reduce<number>((cost, item) => cost + traversal(item), 0);
  if (value instanceof CelMap) {
    return value.entries().reduce((cost, [key, item]) => cost + traversal(key) + traversal(item), 0);
  }
  if (isStruct(value)) {
    return value.fieldNames.reduce((cost, name) => cost + traversal(name) + traversal(value.field(name)), 0);
  }
  return 1;
}

/** An argument or a result that is an error has no value. */
export function callCost(name: string, args: readonly (CelValue | undefined)[], result: CelValue | undefined): number {
  const [first, second] = args;
  switch (name) {
    case 'check':
      return AUTHORIZER_CHECK;
    case 'isSorted':
    case 'sum':
    case 'max':
    case 'min':
    case 'indexOf':
    case 'lastIndexOf':
      return traversal(first);
    case 'url':
    case 'lowerAscii':
    case 'upperAscii':
    case 'substring':
    case 'trim':
    case 'quantity':
    case 'isQuantity':
      return scaled(size(first), STRING_TRAVERSAL);
    case 'replace':
    case 'split':
      return scaled(size(first), 2 * STRING_TRAVERSAL);
    case 'join':
      return scaled(size(result), 2 * STRING_TRAVERSAL);
    case 'matches':
    case 'find':
    case 'findAll':
      return scaled(1 + size(first), STRING_TRAVERSAL) * scaled(size(second), REGEX_LENGTH);
    case 'startsWith':
    case 'endsWith':
      return scaled(size(first), STRING_TRAVERSAL);
    case 'format':
      return scaled(size(first), STRING_TRAVERSAL);
    case 'sets.contains':
    case 'sets.intersects':
      return 1 + size(first) * size(second);
    case 'sets.equivalent':
      return 1 + 2 * size(first) * size(second);
    case 'contains':
      return scaled(size(first), STRING_TRAVERSAL) * scaled(size(second), STRING_TRAVERSAL);
    case 'string':
    case 'bytes':
      return scaled(size(first), STRING_TRAVERSAL);
    case '@in':
      return second instanceof CelList ? size(second) : 1;
    case '_==_':
    case '_!=_':
    case '_<_':
    case '_<=_':
    case '_>_':
    case '_>=_':
      return scaled(Math.min(size(first), size(second)), STRING_TRAVERSAL);
    case '_+_':
      return typeof first === 'string' || first instanceof Uint8Array
        ? scaled(size(first) + size(second), STRING_TRAVERSAL)
        : 1;
    default:
      return 1;
  }
}
