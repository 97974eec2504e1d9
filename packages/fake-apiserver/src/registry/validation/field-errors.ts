// Field errors as upstream words them; they become the causes of a 422.
// Upstream: apimachinery@v0.30.3:pkg/util/validation/field/errors.go
import { type FieldErrorCause, goQuote } from '@kube-rx/apimachinery';

/** A value that is shown as Go prints it, when JSON cannot tell: `go('[]string{"a"}')`. */
export interface GoText {
  readonly goText: string;
}
export const go = (goText: string): GoText => ({ goText });

const isGoText = (value: unknown): value is GoText =>
  typeof value === 'object' && value !== null && 'goText' in value && typeof value.goText === 'string';

/** `map[string]string{"a":"b"}` with sorted keys, `map[string]string(nil)` for none. */
export function goStringMap(map: Readonly<Record<string, unknown>> | undefined): string {
  if (map === undefined) return 'map[string]string(nil)';
  const parts = Object.keys(map)
    .sort()
    .map((key) => `${goQuote(key)}:${goQuote(String(map[key]))}`);
  return `map[string]string{${parts.join(', ')}}`;
}

export function goStringList(items: readonly string[] | undefined): string {
  return items === undefined ? '[]string(nil)' : `[]string{${items.map(goQuote).join(', ')}}`;
}

export function goBytes(bytes: Uint8Array): string {
  return `[]byte{${[...bytes].map((byte) => `0x${byte.toString(16)}`).join(', ')}}`;
}

function show(value: unknown): string {
  if (isGoText(value)) return value.goText;
  if (typeof value === 'string') return goQuote(value);
  if (value === undefined || value === null) return '"null"';
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  if (Array.isArray(value) && value.every((item) => typeof item === 'string')) return goStringList(value);
  return JSON.stringify(value);
}

/** A path into an object: `spec.ports[0].name`, `data[a b]`. */
export class FieldPath {
  readonly text: string;
  constructor(text = '') {
    this.text = text;
  }
  child(...names: string[]): FieldPath {
    const [name] = names;
    if (names.length === 1 && name !== undefined && name !== '') {
      return new FieldPath(this.text === '' ? name : `${this.text}.${name}`);
    }
    return new FieldPath([this.text, ...names].filter((part) => part !== '').join('.'));
  }
  index(at: number): FieldPath {
    return new FieldPath(`${this.text}[${at}]`);
  }
  key(name: string): FieldPath {
    return new FieldPath(`${this.text}[${name}]`);
  }
}

/** `path('spec', 'ports')` */
export const path = (...names: string[]): FieldPath => new FieldPath().child(...names);

/** Collects field errors in the order in which validation finds them. */
export class FieldErrors {
  readonly causes: FieldErrorCause[] = [];

  get empty(): boolean {
    return this.causes.length === 0;
  }

  #add(reason: string, at: FieldPath, what: string, detail: string): void {
    this.causes.push({ reason, message: detail === '' ? what : `${what}: ${detail}`, field: at.text });
  }

  required(at: FieldPath, detail = ''): void {
    this.#add('FieldValueRequired', at, 'Required value', detail);
  }
  invalid(at: FieldPath, value: unknown, detail: string): void {
    this.#add('FieldValueInvalid', at, `Invalid value: ${show(value)}`, detail);
  }
  /** An invalid value that is not shown. */
  wrong(at: FieldPath, detail: string): void {
    this.#add('FieldValueInvalid', at, 'Invalid value', detail);
  }
  forbidden(at: FieldPath, detail: string): void {
    this.#add('FieldValueForbidden', at, 'Forbidden', detail);
  }
  duplicate(at: FieldPath, value: unknown, detail = ''): void {
    this.#add('FieldValueDuplicate', at, `Duplicate value: ${show(value)}`, detail);
  }
  notFound(at: FieldPath, value: unknown): void {
    this.#add('FieldValueNotFound', at, `Not found: ${show(value)}`, '');
  }
  notSupported(at: FieldPath, value: unknown, supported: readonly string[]): void {
    const values = supported.map(goQuote).join(', ');
    const detail = supported.length === 0 ? '' : `supported values: ${values}`;
    this.#add('FieldValueNotSupported', at, `Unsupported value: ${show(value)}`, detail);
  }
  tooLong(at: FieldPath, max: number): void {
    this.#add('FieldValueTooLong', at, 'Too long', `must have at most ${max} bytes`);
  }
  tooMany(at: FieldPath, actual: number, max: number): void {
    this.#add('FieldValueTooMany', at, `Too many: ${actual}`, `must have at most ${max} items`);
  }
  internal(at: FieldPath, detail: string): void {
    this.#add('InternalError', at, 'Internal error', detail);
  }
  typeInvalid(at: FieldPath, value: unknown, detail: string): void {
    this.#add('FieldValueTypeInvalid', at, `Invalid value: ${show(value)}`, detail);
  }
  append(others: FieldErrors): void {
    this.causes.push(...others.causes);
  }
}
