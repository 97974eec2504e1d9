// One step of a path to a field, in its serialised form: `f:NAME`, `k:{...}` for a list item by keys, `v:VALUE` for a member of a
// set, `i:INDEX`. The form is canonical, so equal steps are equal strings.
// Upstream: structured-merge-diff@v4.4.1:fieldpath/{element,serialize-pe}.go
import { goJsonStringify, goQuote } from '@kube-rx/apimachinery';

export type PathElement = string;

export type Path = readonly PathElement[];

export const fieldElement = (name: string): PathElement => `f:${name}`;

export const indexElement = (index: number): PathElement => `i:${index}`;

export const valueElement = (value: unknown): PathElement => `v:${goJsonStringify(value)}`;

/** Keys are sorted by name, whatever order they come in. */
export function keyElement(keys: readonly (readonly [name: string, value: unknown])[]): PathElement {
  const sorted = [...keys].sort(([a], [b]) => compareStrings(a, b));
  return `k:{${sorted.map(([name, value]) => `${JSON.stringify(name)}:${goJsonStringify(value)}`).join(',')}}`;
}

/** The field's name; undefined for other steps. */
export function fieldNameOf(element: PathElement): string | undefined {
  return element.startsWith('f:') ? element.slice(2) : undefined;
}

export const isKeyElement = (element: PathElement): boolean => element.startsWith('k:');

/**
 * A step from a stored field set in canonical form; undefined for kinds of a future version, which are dropped.
 *
 * @throws SyntaxError for what is no step at all.
 */
export function parsePathElement(text: string): PathElement | undefined {
  if (text.length < 2) throw new SyntaxError('key must be 2 characters long:');
  if (text[1] !== ':') throw new SyntaxError(`missing colon: ${text}`);
  switch (text[0]) {
    case 'f':
      return text;
    case 'v':
      return valueElement(JSON.parse(text.slice(2)));
    case 'k':
      return keyElement(Object.entries(JSON.parse(text.slice(2)) as object));
    case 'i':
      if (!/^[+-]?\d+$/.test(text.slice(2))) throw new SyntaxError(`invalid index: ${text}`);
      return indexElement(Number(text.slice(2)));
    default:
      return undefined;
  }
}

/** As a path is printed in messages: `.name`, `[name="c"]`, `[="x"]`, `[0]`. */
export function printPathElement(element: PathElement): string {
  const rest = element.slice(2);
  switch (element[0]) {
    case 'f':
      return `.${rest}`;
    case 'k':
      return `[${Object.entries(JSON.parse(rest) as object)
        .map(([name, value]) => `${name}=${printValue(value)}`)
        .join(',')}]`;
    case 'v':
      return `[=${printValue(JSON.parse(rest))}]`;
    default:
      return `[${rest}]`;
  }
}

export function printPath(path: Path): string {
  return path.map(printPathElement).join('');
}

/** Upstream: structured-merge-diff@v4.4.1:value/value.go#ToString; the keys of a map are in order here. */
function printValue(value: unknown): string {
  if (typeof value === 'string') return goQuote(value);
  if (Array.isArray(value)) return `[${value.map(printValue).join(',')}]`;
  if (typeof value !== 'object' || value === null) return String(value);
  return Object.entries(value)
    .sort(([a], [b]) => compareStrings(a, b))
    .map(([key, each]) => `${key}=${printValue(each)}`)
    .join('');
}

const KIND_ORDER = 'fkvi';
const NON_ASCII = /[\ud800-\udfff]/;

/** Byte order, as Go compares strings. */
export function compareStrings(a: string, b: string): number {
  if (a === b) return 0;
  if (NON_ASCII.test(a) || NON_ASCII.test(b)) return Buffer.compare(Buffer.from(a), Buffer.from(b));
  return a < b ? -1 : 1;
}

/** Total order: fields, keyed items, set members, indices; each kind by its content. */
export function comparePathElements(a: PathElement, b: PathElement): number {
  if (a === b) return 0;
  const kind = KIND_ORDER.indexOf(a[0]!) - KIND_ORDER.indexOf(b[0]!);
  if (kind !== 0) return kind;
  const [left, right] = [a.slice(2), b.slice(2)];
  if (a[0] === 'f') return compareStrings(left, right);
  if (a[0] === 'i') return Number(left) - Number(right);
  if (a[0] === 'v') return compareValues(JSON.parse(left), JSON.parse(right));
  return compareKeys(Object.entries(JSON.parse(left) as object), Object.entries(JSON.parse(right) as object));
}

function compareKeys(left: readonly [string, unknown][], right: readonly [string, unknown][]): number {
  for (let index = 0; ; index++) {
    const [a, b] = [left[index], right[index]];
    if (a === undefined || b === undefined) return left.length - right.length;
    const order = compareStrings(a[0], b[0]) || compareValues(a[1], b[1]);
    if (order !== 0) return order;
  }
}

const TYPE_ORDER = ['number', 'string', 'boolean'];

function compareValues(a: unknown, b: unknown): number {
  const type = rank(a) - rank(b);
  if (type !== 0) return type;
  if (typeof a === 'string') return compareStrings(a, b as string);
  return typeof a === 'object' ? compareStrings(JSON.stringify(a), JSON.stringify(b)) : Number(a) - Number(b);
}

function rank(value: unknown): number {
  const index = TYPE_ORDER.indexOf(typeof value);
  return index < 0 ? TYPE_ORDER.length : index;
}
