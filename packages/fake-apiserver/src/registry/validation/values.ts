// Numbers, ports, names and quantities as values of fields.
// Upstream: kubernetes@v1.30.3:pkg/apis/core/validation/validation.go
import {
  goQuote,
  isDNS1123Label,
  isQualifiedName,
  isValidPercent,
  isValidPortName,
  isValidPortNum,
  parseQuantity,
  type Quantity,
} from '@kube-rx/apimachinery';
import { byCodePoint, type Draft, dict, get, num, str } from '../draft.ts';
import { type FieldErrors, type FieldPath, type GoText, go } from './field-errors.ts';

export const NEGATIVE = 'must be greater than or equal to 0';
export const PROTOCOLS: readonly string[] = ['SCTP', 'TCP', 'UDP'];
export const FILE_MODE = 'must be a number between 0 and 0777 (octal), both inclusive';

export function nonnegative(parent: Draft | undefined, field: string, at: FieldPath, errors: FieldErrors): void {
  const value = num(parent, field);
  if (value !== undefined && value < 0) errors.invalid(at.child(field), value, NEGATIVE);
}

export function dnsLabel(value: string, at: FieldPath, errors: FieldErrors): void {
  for (const text of isDNS1123Label(value)) errors.invalid(at, value, text);
}

export function qualifiedName(value: string, at: FieldPath, errors: FieldErrors): void {
  for (const text of isQualifiedName(value)) errors.invalid(at, value, text);
}

export function messages(value: unknown, texts: readonly string[], at: FieldPath, errors: FieldErrors): void {
  for (const text of texts) errors.invalid(at, value, text);
}

export function portNumOrName(value: unknown, at: FieldPath, errors: FieldErrors): void {
  if (typeof value === 'string') messages(value, isValidPortName(value), at, errors);
  else {
    const port = typeof value === 'number' ? value : 0;
    messages(port, isValidPortNum(port), at, errors);
  }
}

/** One of a fixed set of words; '' is a missing one. */
export function oneOf(
  parent: Draft | undefined,
  field: string,
  allowed: readonly string[],
  at: FieldPath,
  errors: FieldErrors,
): void {
  const value = str(parent, field);
  if (value === '') errors.required(at.child(field));
  else if (!allowed.includes(value)) errors.notSupported(at.child(field), value, allowed);
}

export function fileMode(parent: Draft | undefined, field: string, at: FieldPath, errors: FieldErrors): void {
  const mode = num(parent, field);
  if (mode !== undefined && (mode > 0o777 || mode < 0)) errors.invalid(at.child(field), mode, FILE_MODE);
}

/** A number or text as Go prints the struct behind it. */
export function goIntOrString(value: unknown): GoText {
  const isText = typeof value === 'string';
  const parts = isText ? `Type:1, IntVal:0, StrVal:${goQuote(value)}` : `Type:0, IntVal:${value ?? 0}, StrVal:""`;
  return go(`intstr.IntOrString{${parts}}`);
}

/** A number, or a percentage as text, that is not negative. */
export function positiveIntOrPercent(value: unknown, at: FieldPath, errors: FieldErrors): void {
  if (typeof value === 'string')
    for (const text of isValidPercent(value)) errors.invalid(at, goIntOrString(value), text);
  else if (typeof value === 'number' && value < 0) errors.invalid(at, value, NEGATIVE);
}

/** The number in `25%`, undefined for other values. */
export function percentOf(value: unknown): number | undefined {
  if (typeof value !== 'string' || isValidPercent(value).length > 0) return undefined;
  return Number(value.slice(0, -1));
}

export function notMoreThan100Percent(value: unknown, at: FieldPath, errors: FieldErrors): void {
  const percent = percentOf(value);
  if (percent !== undefined && percent > 100) errors.invalid(at, goIntOrString(value), 'must not be greater than 100%');
}

/** The quantities of a resource list in key order; what is no quantity was refused by decoding. */
export function quantities(parent: Draft | undefined, field: string): readonly (readonly [string, Quantity])[] {
  const map = dict(parent, field);
  if (map === undefined) return [];
  return Object.keys(map)
    .sort(byCodePoint)
    .flatMap((name) => {
      const value = quantity(get(map, name));
      return value === undefined ? [] : [[name, value] as const];
    });
}

export function quantity(value: unknown): Quantity | undefined {
  if (typeof value !== 'string' && typeof value !== 'number') return undefined;
  try {
    return parseQuantity(String(value));
  } catch {
    return undefined;
  }
}

/**
 * A quantity in canonical form as Go prints the struct: the number, its power of ten, and the text. Upstream keeps what the client
 * wrote, so `1.5` shows another number and power there than `1500m`.
 */
export function goQuantity(value: Quantity): string {
  const text = value.toString();
  const [, digits = '0', suffix = ''] = /^([+-]?\d+)([A-Za-z]*)/.exec(text) ?? [];
  const binary = suffix.endsWith('i');
  const powers: Readonly<Record<string, number>> = { n: -9, u: -6, m: -3, k: 3, M: 6, G: 9, T: 12, P: 15, E: 18 };
  const number = binary ? value.value().toString() : digits;
  const shown = binary && Number(digits) % 8 === 0 ? '' : text;
  const amount = `resource.int64Amount{value:${number}, scale:${binary ? 0 : (powers[suffix] ?? 0)}}`;
  const format = binary ? 'BinarySI' : 'DecimalSI';
  return `resource.Quantity{i:${amount}, d:resource.infDecAmount{Dec:(*inf.Dec)(nil)}, s:${goQuote(shown)}, Format:${goQuote(format)}}`;
}
