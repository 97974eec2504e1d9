// The checks of a single value: type, format, length, pattern, bounds, enum, and how failures are collected.
// Upstream: kube-openapi:pkg/validation/validate/type.go, values.go, result.go

import { goQuote } from '@kube-rx/apimachinery';
import {
  child,
  type FieldError,
  type FieldPath,
  invalid,
  notSupported,
  tooLongMaxLength,
  typeInvalid,
} from '../field-error.ts';
import { formatFloat, goString } from '../go-format.ts';
import { jsonEqual } from '../schema/json.ts';
import type { Structural } from '../schema/structural.ts';
import { formatCheck } from './formats.ts';
import { compileGoRegexp } from './go-regexp.ts';

/** One failed check: `name` is the dotted path as kube-openapi writes it, '' for the root. */
export interface Failure {
  readonly text: string;
  toFieldError(root: FieldPath): FieldError;
}

/** Failures without repeats, and how many checks were made: the best alternative of anyOf is the one with most of them. */
export class Result {
  readonly failures: Failure[] = [];
  matchCount = 0;

  get valid(): boolean {
    return this.failures.length === 0;
  }

  add(failure: Failure): void {
    if (!this.failures.some((known) => known.text === failure.text)) this.failures.push(failure);
  }

  merge(other: Result): void {
    for (const failure of other.failures) this.add(failure);
    this.matchCount += other.matchCount;
  }
}

export const at = (root: FieldPath, name: string): FieldPath => {
  if (name === '' || name === '.') return root;
  return child(root, name.startsWith('.') ? name.slice(1) : name);
};

export const plain = (name: string, text: string, value: unknown = ''): Failure => ({
  text,
  toFieldError: (root) => invalid(at(root, name), value, text),
});

/** Failures of junctors belong to no field. */
export const composite = (text: string): Failure => ({ text, toFieldError: (root) => invalid(root, '', text) });

export const wrongType = (name: string, expected: string, got: string): Failure => {
  const text = `${name} in body must be of type ${expected}: ${goQuote(got)}`;
  return { text, toFieldError: (root) => typeInvalid(at(root, name), got, text) };
};

function kindOf(value: unknown): string {
  if (Array.isArray(value)) return 'array';
  switch (typeof value) {
    case 'boolean':
      return 'boolean';
    case 'string':
      return 'string';
    case 'number':
      return Number.isInteger(value) && Math.abs(value) < 2 ** 63 ? 'integer' : 'number';
    default:
      return 'object';
  }
}

export const expectedTypes = (schema: Structural): readonly string[] =>
  schema.intOrString
    ? ['integer', 'string']
    : schema.type === undefined || (schema.type as string) === ''
      ? []
      : [schema.type];

export function checkType(value: unknown, schema: Structural, name: string, result: Result): void {
  const types = expectedTypes(schema);
  const check = schema.format === undefined ? undefined : formatCheck(schema.format);
  if (types.length === 0 && check === undefined) return;
  const kind = kindOf(value);
  const fits = types.includes(kind) || (kind === 'integer' && types.includes('number'));
  if (check !== undefined) {
    const textual = kind === 'string' || kind === 'array';
    if (!textual && !fits) {
      const shown = kind === 'integer' ? 'int64' : kind === 'number' ? 'double' : '';
      result.add(wrongType(name, schema.format!, shown));
      return;
    }
    if (textual && !types.includes('number') && !types.includes('integer')) return;
  }
  if (!fits) result.add(wrongType(name, types.join(','), kind));
}

export function checkString(value: string, schema: Structural, name: string): Failure | undefined {
  const length = [...value].length;
  if (schema.maxLength !== undefined && length > schema.maxLength) {
    const maximum = schema.maxLength;
    return {
      text: `${name} in body should be at most ${maximum} chars long`,
      toFieldError: (root) => tooLongMaxLength(at(root, name), maximum),
    };
  }
  if (schema.minLength !== undefined && length < schema.minLength) {
    return plain(name, `${name} in body should be at least ${schema.minLength} chars long`, value);
  }
  if (schema.pattern === '') return undefined;
  let pattern = schema.pattern;
  try {
    if (compileGoRegexp(pattern).test(value)) return undefined;
  } catch (error) {
    pattern = `${pattern}, but pattern is invalid: ${(error as Error).message}`;
  }
  return plain(name, `${name} in body should match '${pattern}'`, value);
}

export function checkNumber(value: number, schema: Structural, name: string, result: Result): void {
  const whole = Number.isInteger(value);
  // Integers are compared with the integer part of the bound, and that is what the text shows.
  const bound = (limit: number): number => (whole ? Math.trunc(limit) : limit);
  const { multipleOf, maximum, minimum } = schema;
  if (multipleOf !== undefined) {
    const factor = bound(multipleOf);
    if (factor <= 0)
      result.add(
        plain(name, `factor MultipleOf declared for ${name} must be positive: ${formatFloat(factor)}`, factor),
      );
    else if (!isMultiple(value, factor)) {
      result.add(plain(name, `${name} in body should be a multiple of ${formatFloat(factor)}`, value));
    }
  }
  if (minimum !== undefined && (schema.exclusiveMinimum ? value <= bound(minimum) : value < bound(minimum))) {
    const relation = schema.exclusiveMinimum ? 'greater than' : 'greater than or equal to';
    result.add(plain(name, `${name} in body should be ${relation} ${formatFloat(bound(minimum))}`, value));
  }
  if (maximum !== undefined && (schema.exclusiveMaximum ? value >= bound(maximum) : value > bound(maximum))) {
    const relation = schema.exclusiveMaximum ? 'less than' : 'less than or equal to';
    result.add(plain(name, `${name} in body should be ${relation} ${formatFloat(bound(maximum))}`, value));
  }
}

function isMultiple(value: number, factor: number): boolean {
  const quotient = factor < 1 ? (1 / factor) * value : value / factor;
  return Math.abs(quotient - Math.round(quotient)) < 1e-9;
}

/** As Go converts before it compares: a fraction is cut off for a whole option, a whole number is a code point for a text. */
function isOption(value: unknown, option: unknown): boolean {
  if (jsonEqual(option, value)) return true;
  if (typeof value !== 'number') return false;
  if (typeof option === 'number') return Number.isInteger(option) && Math.trunc(value) === option;
  return (
    typeof option === 'string' && Number.isInteger(value) && option.codePointAt(0) === value && [...option].length === 1
  );
}

export function checkEnum(value: unknown, schema: Structural, name: string): Failure | undefined {
  const options = schema.enum;
  if (options === undefined) return undefined;
  if (value !== null && options.some((option) => isOption(value, option))) return undefined;
  const shown = options.map((option) => (typeof option === 'string' ? option : JSON.stringify(option)));
  return {
    text: `${name} in body should be one of [${options.map(goString).join(' ')}]`,
    toFieldError: (root) => notSupported(at(root, name), value, shown),
  };
}
