// JSON text into a typed object, with Go's judgement of it: type errors, unknown and duplicate fields.
// Upstream: sigs.k8s.io/json@bc3834ca7abd:json.go#UnmarshalStrict, apimachinery@v0.30.3:pkg/runtime/serializer/json/json.go
// Differs: nesting ends at 2,000 levels (upstream 10,000), since JavaScript's stack is smaller.

import { type DecodedJson, DecodeError } from './decode-error.ts';
import { goTypeOf } from './go-type.ts';
import { JsonReader, setOwn } from './json-reader.ts';
import { jsonSyntaxError } from './json-syntax.ts';
import { normalizeType } from './normalize-builtin.ts';
import type { Schema } from './schema.ts';
import { StrictErrors } from './strict-errors.ts';
import { TypedReader } from './typed-reader.ts';

export const MAX_JSON_DEPTH = 2000;

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    const message = jsonSyntaxError(text);
    if (message !== undefined) throw new DecodeError(message);
    // What Go takes and JavaScript does not can only be too deep for the stack.
    throw new DecodeError('exceeded max depth', { cause: error });
  }
}

/** Deep nesting is found before anything recurses. The text is valid JSON. */
function checkDepth(text: string): void {
  if (!new JsonReader(text).skipWithin(MAX_JSON_DEPTH)) throw new DecodeError('exceeded max depth');
}

/**
 * Decodes a document of a built-in type as Go would: unknown fields are dropped and reported, wrong types throw, and the result
 * is what Go would write back (see `normalizeUnstored`). Without a recorded schema the value stays as it is and only
 * duplicate keys are reported.
 *
 * @param options.isJson The text was parsed before, or written by the server.
 * @throws DecodeError with upstream's text.
 */
export function decodeJson(text: string, schema?: Schema, options: { readonly isJson?: boolean } = {}): DecodedJson {
  const type = schema === undefined ? undefined : goTypeOf(schema);
  const plain = type !== undefined && options.isJson === true ? undefined : parse(text);
  checkDepth(text);
  const errors = new StrictErrors();
  if (type === undefined) {
    const value = readUntyped(new JsonReader(text), errors);
    return { value: errors.list.length === 0 ? plain : value, strictErrors: errors.list };
  }
  const reader = new TypedReader(new JsonReader(text), errors);
  const value = reader.document(type);
  if (reader.problem !== undefined) throw new DecodeError(reader.problem);
  return { value: value === undefined ? undefined : normalizeType(value, type, true), strictErrors: errors.list };
}

/** Plain JSON where a later duplicate wins, as in Go's maps. */
function readUntyped(reader: JsonReader, errors: StrictErrors): unknown {
  const char = reader.peek();
  if (char === '"') return reader.string();
  if (char === '[') {
    const items: unknown[] = [];
    reader.step();
    if (reader.peek() === ']') {
      reader.step();
      return items;
    }
    do {
      errors.enterIndex(items.length);
      items.push(readUntyped(reader, errors));
      errors.leave();
    } while (!reader.closes());
    return items;
  }
  if (char !== '{') return JSON.parse(reader.bare());
  const object: Record<string, unknown> = {};
  reader.step();
  if (reader.peek() === '}') {
    reader.step();
    return object;
  }
  do {
    const key = reader.key();
    if (Object.hasOwn(object, key)) errors.add('duplicate field', key);
    errors.enterKey(key);
    setOwn(object, key, readUntyped(reader, errors));
    errors.leave();
  } while (!reader.closes());
  return object;
}
