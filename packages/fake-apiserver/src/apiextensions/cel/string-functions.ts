// Functions on strings.
// Upstream: github.com/google/cel-go@v0.17.8:ext/strings.go, apiserver@v0.30.3:pkg/cel/library/regex.go
import { compileGoRegexp, type GoRegexp } from '../validation/go-regexp.ts';
import { format } from './formatting.ts';
import { CelError, CelList, type CelValue, noSuchOverload } from './values.ts';

export type CelFunction = (args: readonly CelValue[]) => CelValue;

function text(value: CelValue | undefined): string {
  if (typeof value === 'string') return value;
  throw noSuchOverload();
}

function int(value: CelValue | undefined): number {
  if (typeof value === 'bigint') return Number(value);
  throw noSuchOverload();
}

const outOfRange = (index: number): CelError => new CelError(`index out of range: ${index}`);

function charAt(args: readonly CelValue[]): CelValue {
  const chars = [...text(args[0])];
  const index = int(args[1]);
  if (index < 0 || index > chars.length) throw outOfRange(index);
  return chars[index] ?? '';
}

function substring(args: readonly CelValue[]): CelValue {
  const chars = [...text(args[0])];
  const start = int(args[1]);
  const end = args.length > 2 ? int(args[2]) : chars.length;
  if (args.length > 2 && start > end) throw new CelError(`invalid substring range. start: ${start}, end: ${end}`);
  if (start < 0 || start > chars.length) throw outOfRange(start);
  if (end < 0 || end > chars.length) throw outOfRange(end);
  return chars.slice(start, end).join('');
}

function matchesAt(chars: readonly string[], part: readonly string[], at: number): boolean {
  return part.every((char, offset) => chars[at + offset] === char);
}

export function indexOfText(args: readonly CelValue[]): CelValue {
  const [chars, part] = [[...text(args[0])], [...text(args[1])]];
  const offset = args.length > 2 ? int(args[2]) : 0;
  if (offset < 0 || offset > chars.length) {
    if (args.length > 2 && !(offset === chars.length)) throw outOfRange(offset);
  }
  if (part.length === 0) return BigInt(offset);
  for (let at = offset; at + part.length <= chars.length; at++) if (matchesAt(chars, part, at)) return BigInt(at);
  return -1n;
}

export function lastIndexOfText(args: readonly CelValue[]): CelValue {
  const [chars, part] = [[...text(args[0])], [...text(args[1])]];
  const offset = args.length > 2 ? int(args[2]) : chars.length;
  if (offset < 0 || offset > chars.length) throw outOfRange(offset);
  if (part.length === 0) return BigInt(offset);
  for (let at = Math.min(offset, chars.length - part.length); at >= 0; at--) {
    if (matchesAt(chars, part, at)) return BigInt(at);
  }
  return -1n;
}

function replace(args: readonly CelValue[]): CelValue {
  const [source, from, to] = [text(args[0]), text(args[1]), text(args[2])];
  let left = args.length > 3 ? int(args[3]) : -1;
  if (left < 0) return source.replaceAll(from, () => to);
  let out = '';
  let rest = source;
  if (from === '') {
    const chars = [...source];
    for (let at = 0; at <= chars.length; at++) out += (left-- > 0 ? to : '') + (chars[at] ?? '');
    return out;
  }
  for (let at = rest.indexOf(from); at >= 0 && left > 0; at = rest.indexOf(from), left--) {
    out += rest.slice(0, at) + to;
    rest = rest.slice(at + from.length);
  }
  return out + rest;
}

function split(args: readonly CelValue[]): CelValue {
  const [source, separator] = [text(args[0]), text(args[1])];
  const limit = args.length > 2 ? int(args[2]) : -1;
  if (limit === 0) return new CelList([]);
  const parts = separator === '' ? [...source] : source.split(separator);
  if (limit < 0 || parts.length <= limit) return new CelList(parts);
  return new CelList([...parts.slice(0, limit - 1), parts.slice(limit - 1).join(separator)]);
}

function join(args: readonly CelValue[]): CelValue {
  const [list, separator] = args;
  if (!(list instanceof CelList)) throw noSuchOverload();
  return list.items.map((item) => text(item)).join(separator === undefined ? '' : text(separator));
}

const SPACE = /^[\s\u0085]+|[\s\u0085]+$/g;
const ascii = (value: string, map: (char: string) => string): string => value.replace(/[a-zA-Z]/g, map);

function findAll(args: readonly CelValue[]): CelValue {
  const pattern = regexp(text(args[1]), 'Illegal regex: ');
  const limit = args.length > 2 ? int(args[2]) : -1;
  const all = pattern.findAll(text(args[0]));
  return new CelList(limit < 0 ? all : all.slice(0, limit));
}

function regexp(pattern: string, prefix = ''): GoRegexp {
  try {
    return compileGoRegexp(pattern);
  } catch (error) {
    throw new CelError(`${prefix}${(error as Error).message}`);
  }
}

const QUOTED: Readonly<Record<string, string>> = {
  '\x07': '\\a',
  '\b': '\\b',
  '\f': '\\f',
  '\n': '\\n',
  '\r': '\\r',
  '\t': '\\t',
  '\v': '\\v',
  '\\': '\\\\',
  '"': '\\"',
};

export const stringFunctions: Readonly<Record<string, CelFunction>> = {
  contains: ([a, b]) => text(a).includes(text(b)),
  startsWith: ([a, b]) => text(a).startsWith(text(b)),
  endsWith: ([a, b]) => text(a).endsWith(text(b)),
  matches: ([a, b]) => regexp(text(b)).test(text(a)),
  charAt,
  substring,
  replace,
  split,
  join,
  format,
  lowerAscii: ([a]) => ascii(text(a), (char) => char.toLowerCase()),
  upperAscii: ([a]) => ascii(text(a), (char) => char.toUpperCase()),
  trim: ([a]) => text(a).replace(SPACE, ''),
  'strings.quote': ([a]) => `"${[...text(a)].map((char) => QUOTED[char] ?? char).join('')}"`,
  find: ([a, b]) => regexp(text(b), 'Illegal regex: ').find(text(a)) ?? '',
  findAll,
};
