// JSONPath as printer columns use it: fields, indexes, wildcards, slices, unions, filters, recursive descent.
// Upstream: client-go@v0.30.3:util/jsonpath
// Differs: missing fields always give no result, as the server asks for.
import { isObject } from './schema/json.ts';

type Filter = (item: unknown) => boolean;
type Step =
  | { readonly kind: 'field'; readonly name: string }
  | { readonly kind: 'fields'; readonly names: readonly string[] }
  | {
      readonly kind: 'slice';
      readonly from: number | undefined;
      readonly to: number | undefined;
      readonly step: number;
    }
  | { readonly kind: 'index'; readonly positions: readonly number[] }
  | { readonly kind: 'wildcard' }
  | { readonly kind: 'recursive' }
  | { readonly kind: 'filter'; readonly test: Filter };

export class JsonPathError extends Error {
  override readonly name = 'JsonPathError';
}

/** A compiled path; `find` gives the matches in order. */
export interface JsonPath {
  find(root: unknown): readonly unknown[];
}

/** Compiles a path without braces, such as `.status.conditions[?(@.type=="Ready")].status`. Throws {@link JsonPathError}. */
export function compileJsonPath(text: string): JsonPath {
  const steps = new PathParser(text).parse();
  return { find: (root) => walk(steps, root) };
}

const walk = (steps: readonly Step[], root: unknown): readonly unknown[] =>
  steps.reduce<readonly unknown[]>((values, step) => values.flatMap((value) => follow(step, value)), [root]);

function follow(step: Step, value: unknown): readonly unknown[] {
  switch (step.kind) {
    case 'field':
      return fieldOf(value, step.name);
    case 'fields':
      return step.names.flatMap((name) => fieldOf(value, name));
    case 'wildcard':
      return childrenOf(value);
    case 'recursive':
      return descend(value);
    case 'filter':
      return Array.isArray(value) ? value.filter(step.test) : [];
    case 'index':
      return Array.isArray(value) ? step.positions.flatMap((at) => atPosition(value, at)) : [];
    case 'slice':
      return Array.isArray(value) ? slice(value, step) : [];
  }
}

const fieldOf = (value: unknown, name: string): readonly unknown[] =>
  isObject(value) && Object.hasOwn(value, name) ? [value[name]] : [];

function atPosition(value: readonly unknown[], position: number): readonly unknown[] {
  const at = position < 0 ? value.length + position : position;
  return at >= 0 && at < value.length ? [value[at]] : [];
}

function slice(value: readonly unknown[], step: Extract<Step, { kind: 'slice' }>): readonly unknown[] {
  const part = value.slice(step.from ?? 0, step.to ?? value.length);
  return step.step <= 1 ? part : part.filter((_, position) => position % step.step === 0);
}

function childrenOf(value: unknown): readonly unknown[] {
  if (Array.isArray(value)) return value;
  return isObject(value)
    ? Object.keys(value)
        .sort()
        .map((name) => value[name])
    : [];
}

const descend = (value: unknown): readonly unknown[] => [value, ...childrenOf(value).flatMap(descend)];

class PathParser {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  parse(): readonly Step[] {
    const steps: Step[] = [];
    while (this.#at < this.#text.length) {
      const char = this.#text[this.#at]!;
      if (char === '.') steps.push(...this.#dot());
      else if (char === '[') steps.push(this.#bracket());
      else if (char === '$' || char === '@') this.#at += 1;
      else if (/[\w-]/.test(char)) steps.push({ kind: 'field', name: this.#name() });
      else
        throw new JsonPathError(
          `unrecognized character in action: U+${char.codePointAt(0)!.toString(16).toUpperCase().padStart(4, '0')} '${char}'`,
        );
    }
    return steps;
  }

  #dot(): readonly Step[] {
    this.#at += 1;
    const next = this.#text[this.#at];
    if (next === '.') {
      this.#at += 1;
      const name = this.#name();
      return name === '' ? [{ kind: 'recursive' }] : [{ kind: 'recursive' }, named(name)];
    }
    if (next === undefined || next === '[') return [];
    const name = this.#name();
    return name === '' ? [] : [named(name)];
  }

  /** A field name; a backslash takes the next character as it is. */
  #name(): string {
    let name = '';
    for (; this.#at < this.#text.length; this.#at++) {
      const char = this.#text[this.#at]!;
      if (char === '\\') {
        this.#at += 1;
        name += this.#text[this.#at] ?? '';
      } else if (/[.[\]\s(),=!<>&|]/.test(char)) break;
      else name += char;
    }
    return name;
  }

  #bracket(): Step {
    const start = this.#at;
    const end = closing(this.#text, start);
    if (end === -1) throw new JsonPathError('unterminated array');
    const inside = this.#text.slice(start + 1, end);
    this.#at = end + 1;
    const filter = /^\?\((.*)\)$/s.exec(inside);
    if (filter !== null) return { kind: 'filter', test: compileFilter(filter[1]!) };
    if (inside === '*') return { kind: 'wildcard' };
    const quoted = inside.split(',').map((part) => /^\s*'((?:[^'\\]|\\.)*)'\s*$/s.exec(part)?.[1]);
    if (quoted.every((part) => part !== undefined)) {
      return { kind: 'fields', names: quoted.map((part) => part!.replace(/\\(.)/gs, '$1')) };
    }
    const range = /^(-?\d*)(?::(-?\d*))?(?::(-?\d*))?$/.exec(inside);
    if (range !== null && inside.includes(':')) {
      const number = (text: string | undefined): number | undefined => (text ? Number(text) : undefined);
      return { kind: 'slice', from: number(range[1]), to: number(range[2]), step: number(range[3]) ?? 1 };
    }
    const positions = inside.split(',').map((part) => part.trim());
    if (positions.every((part) => /^-?\d+$/.test(part))) return { kind: 'index', positions: positions.map(Number) };
    throw new JsonPathError(`invalid array index ${inside}`);
  }
}

const named = (name: string): Step => (name === '*' ? { kind: 'wildcard' } : { kind: 'field', name });

/** The bracket that ends the one at `start`; text in quotes does not count. */
function closing(text: string, start: number): number {
  let depth = 0;
  let quote: string | undefined;
  for (let at = start; at < text.length; at++) {
    const char = text[at]!;
    if (quote !== undefined) {
      if (char === '\\') at += 1;
      else if (char === quote) quote = undefined;
    } else if (char === "'" || char === '"') quote = char;
    else if (char === '[') depth += 1;
    else if (char === ']' && --depth === 0) return at;
  }
  return -1;
}

const OPERATORS = ['==', '!=', '<=', '>=', '<', '>'] as const;

function compileFilter(text: string): Filter {
  const found = /^(.*?)(==|!=|<=|>=|<|>)(.*)$/s.exec(text);
  if (found === null) {
    const path = operand(text.trim());
    return (item) => path(item).length > 0;
  }
  const [left, right] = [operand(found[1]!.trim()), operand(found[3]!.trim())];
  const operator = found[2] as (typeof OPERATORS)[number];
  return (item) => {
    const [a, b] = [left(item)[0], right(item)[0]];
    return a !== undefined && b !== undefined && compare(a, b, operator);
  };
}

function operand(text: string): (item: unknown) => readonly unknown[] {
  const quoted = /^"(.*)"$|^'(.*)'$/s.exec(text);
  if (quoted !== null) return () => [quoted[1] ?? quoted[2]];
  if (/^-?\d+(\.\d+)?$/.test(text)) return () => [Number(text)];
  if (text === 'true' || text === 'false') return () => [text === 'true'];
  const steps = new PathParser(text).parse();
  return (item) => walk(steps, item);
}

function compare(a: unknown, b: unknown, operator: (typeof OPERATORS)[number]): boolean {
  if (typeof a !== typeof b || typeof a === 'object') return false;
  const [left, right] = [a as string | number, b as string | number];
  switch (operator) {
    case '==':
      return left === right;
    case '!=':
      return left !== right;
    case '<':
      return left < right;
    case '<=':
      return left <= right;
    case '>':
      return left > right;
    case '>=':
      return left >= right;
  }
}
