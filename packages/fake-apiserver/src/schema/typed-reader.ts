// Reads JSON text against a Go type. A wrong type is remembered (the first one counts) and reading goes on, as encoding/json does;
// only a scalar with a parser of its own (time, quantity) ends it at once.
// Upstream: Go encoding/json/decode.go#decodeState
import { canonicalQuantity } from '@kube-rx/apimachinery';
import { fitsInteger } from './go-integers.ts';
import { canonicalBase64, canonicalDuration, ScalarError } from './go-scalars.ts';
import { canonicalMicroTime, canonicalTime } from './go-time.ts';
import type { GoType } from './go-type.ts';
import { type JsonReader, setOwn } from './json-reader.ts';
import type { StrictErrors } from './strict-errors.ts';

/** Ends the reading; {@link TypedReader.problem} says why. */
class Abort extends Error {}

export class TypedReader {
  readonly #reader: JsonReader;
  readonly #errors: StrictErrors;
  readonly #fieldStack: string[] = [];
  #struct = '';
  #problem: string | undefined;

  constructor(reader: JsonReader, errors: StrictErrors) {
    this.#reader = reader;
    this.#errors = errors;
  }

  /** The first error, in Go's words. */
  get problem(): string | undefined {
    return this.#problem;
  }

  /** The document as plain data with known fields only; undefined when reading ended early. */
  document(type: GoType): unknown {
    return this.value(type) ?? (this.#problem === undefined ? {} : undefined);
  }

  /** One value; undefined for `null` or when reading ended early. */
  value(type: GoType): unknown {
    try {
      return this.#value(type);
    } catch (error) {
      if (error instanceof Abort) return undefined;
      throw error;
    }
  }

  #mismatch(found: string, typeText: string): undefined {
    this.#problem ??=
      this.#struct === ''
        ? `json: cannot unmarshal ${found} into Go value of type ${typeText}`
        : `json: cannot unmarshal ${found} into Go struct field ${this.#struct}.${this.#fieldStack.join('.')} of type ${typeText}`;
    return undefined;
  }

  /** An error of a type's own parser wins over what was remembered before. */
  #abort(message: string): never {
    this.#problem = message;
    throw new Abort(message);
  }

  #abortMismatch(found: string, typeText: string): never {
    this.#problem = undefined;
    this.#mismatch(found, typeText);
    throw new Abort(found);
  }

  /** Undefined for null and for what does not fit. */
  #value(type: GoType): unknown {
    const char = this.#reader.peek();
    switch (type.kind) {
      case 'raw':
        return this.#reader.raw() ?? undefined;
      case 'time':
      case 'microTime':
      case 'duration':
      case 'quantity':
      case 'intOrString':
        return this.#parsed(type, char);
      case 'schemaOrBool':
      case 'schemaOrArray':
      case 'schemaOrStrings':
        return this.#errors.muted(() => this.#schemaOr(type, char));
      default:
    }
    if (char === 'n') {
      this.#reader.bare();
      return undefined;
    }
    if (char === '{') return this.#object(type);
    if (char === '[') return this.#array(type);
    return char === '"' ? this.#string(type) : this.#bare(type);
  }

  #object(type: GoType): unknown {
    if (type.kind !== 'struct' && type.kind !== 'map') {
      this.#mismatch('object', type.text);
      this.#reader.skip();
      return undefined;
    }
    const object: Record<string, unknown> = {};
    this.#reader.step();
    if (this.#reader.peek() === '}') {
      this.#reader.step();
      return object;
    }
    const struct = this.#struct;
    const seen = new Set<string>();
    do {
      const key = this.#reader.key();
      if (type.kind === 'map') this.#mapEntry(type, object, key, seen);
      else this.#structField(type, object, key, seen);
      this.#struct = struct;
    } while (!this.#reader.closes());
    return object;
  }

  #mapEntry(type: GoType, object: Record<string, unknown>, key: string, seen: Set<string>): void {
    if (seen.has(key)) this.#errors.add('duplicate field', key);
    seen.add(key);
    this.#errors.enterKey(key);
    const value = this.#value(type.element);
    setOwn(object, key, value ?? null);
    this.#errors.leave();
  }

  #structField(type: GoType, object: Record<string, unknown>, key: string, seen: Set<string>): void {
    const field = type.fields.get(key);
    if (field === undefined) {
      this.#errors.add('unknown field', key);
      this.#reader.skip();
      return;
    }
    const again = seen.has(key);
    if (again) this.#errors.add('duplicate field', key);
    seen.add(key);
    this.#fieldStack.push(key);
    this.#struct = type.structName;
    this.#errors.enterKey(key);
    const isNull = this.#reader.peek() === 'n';
    const value = this.#value(field.type);
    this.#errors.leave();
    this.#fieldStack.pop();
    if (value !== undefined) object[key] = again ? overlay(object[key], value, field.type) : value;
    else if (isNull && (field.type.pointer || !isPlainScalar(field.type))) delete object[key];
  }

  #array(type: GoType): unknown {
    if (type.kind === 'bytes') return this.#byteArray();
    if (type.kind !== 'list') {
      this.#mismatch('array', type.text);
      this.#reader.skip();
      return undefined;
    }
    const items: unknown[] = [];
    this.#reader.step();
    if (this.#reader.peek() === ']') {
      this.#reader.step();
      return items;
    }
    do {
      this.#errors.enterIndex(items.length);
      items.push(this.#value(type.element) ?? null);
      this.#errors.leave();
    } while (!this.#reader.closes());
    return items;
  }

  /** Bytes may also come as a list of numbers. */
  #byteArray(): unknown {
    const bytes: number[] = [];
    for (const item of this.#reader.raw() as unknown[]) {
      const isByte = typeof item === 'number' && Number.isInteger(item) && item >= 0 && item <= 255;
      if (item === null || isByte) bytes.push(Number(item));
      else this.#mismatch(typeof item === 'number' ? `number ${item}` : kindOfValue(item), 'uint8');
    }
    return Buffer.from(bytes).toString('base64');
  }

  #string(type: GoType): unknown {
    const text = this.#reader.string();
    if (type.kind === 'string') return text;
    if (type.kind !== 'bytes') return this.#mismatch('string', type.text);
    try {
      return canonicalBase64(text);
    } catch (error) {
      this.#problem ??= (error as Error).message;
      return undefined;
    }
  }

  #bare(type: GoType): unknown {
    const text = this.#reader.bare();
    if (text === 'true' || text === 'false') {
      return type.kind === 'bool' ? text === 'true' : this.#mismatch('bool', type.text);
    }
    if (type.kind === 'integer') {
      return fitsInteger(text, type.text) ? Number(text) : this.#mismatch(`number ${text}`, type.text);
    }
    if (type.kind === 'float') {
      const value = Number(text);
      return Number.isFinite(value) ? value : this.#mismatch(`number ${text}`, type.text);
    }
    return this.#mismatch('number', type.text);
  }

  /** Types that bring their own parser see any JSON value, null too. */
  #parsed(type: GoType, char: string): unknown {
    if (char === 'n') {
      this.#reader.bare();
      return undefined;
    }
    const start = this.#reader.position;
    this.#reader.skip();
    const text = this.#reader.slice(start);
    if (type.kind === 'quantity') return this.#quantity(text);
    if (type.kind === 'intOrString') {
      if (char === '"') return JSON.parse(text);
      if (char === '-' || (char >= '0' && char <= '9')) {
        return fitsInteger(text, 'int32') ? Number(text) : this.#abortMismatch(`number ${text}`, 'int32');
      }
      return this.#abortMismatch(kindOfJson(char), 'int32');
    }
    if (char !== '"') return this.#abortMismatch(kindOfJson(char), 'string');
    const string = JSON.parse(text) as string;
    try {
      if (type.kind === 'duration') return canonicalDuration(string);
      return (type.kind === 'time' ? canonicalTime(string) : canonicalMicroTime(string)) ?? undefined;
    } catch (error) {
      if (error instanceof ScalarError) this.#abort(error.message);
      throw error;
    }
  }

  #quantity(text: string): string {
    try {
      return canonicalQuantity(text.replace(/^"(.*)"$/s, '$1').trim());
    } catch (error) {
      return this.#abort((error as Error).message);
    }
  }

  #schemaOr(type: GoType, char: string): unknown {
    if (char === '{') return this.#value(type.schemaProps);
    if (char === '[' && type.kind !== 'schemaOrBool') {
      if (type.kind === 'schemaOrStrings') return this.#reader.raw();
      const items: unknown[] = [];
      this.#reader.step();
      if (this.#reader.peek() === ']') this.#reader.step();
      else {
        do items.push(this.#value(type.schemaProps) ?? {});
        while (!this.#reader.closes());
      }
      return items;
    }
    if (type.kind === 'schemaOrBool') {
      const value = this.#reader.raw();
      if (typeof value === 'boolean') return value;
      return this.#abort('boolean or JSON schema expected');
    }
    this.#reader.skip();
    return undefined;
  }
}

function kindOfJson(char: string): string {
  if (char === '{') return 'object';
  if (char === '[') return 'array';
  if (char === '"') return 'string';
  return char === 't' || char === 'f' ? 'bool' : 'number';
}

function kindOfValue(value: unknown): string {
  return kindOfJson(JSON.stringify(value)[0]!);
}

function isPlainScalar(type: GoType): boolean {
  return ['string', 'integer', 'float', 'bool', 'struct'].includes(type.kind);
}

/** Decoding a second value into a field that has one: structs and maps keep what the second does not name. */
function overlay(first: unknown, second: unknown, type: GoType): unknown {
  if ((type.kind !== 'map' && type.kind !== 'struct') || typeof first !== 'object' || first === null) return second;
  const merged = { ...(first as Record<string, unknown>) };
  for (const [key, value] of Object.entries(second as Record<string, unknown>)) {
    const inner = type.kind === 'struct' ? type.fields.get(key)?.type : undefined;
    setOwn(merged, key, inner === undefined ? value : overlay(merged[key], value, inner));
  }
  return merged;
}
