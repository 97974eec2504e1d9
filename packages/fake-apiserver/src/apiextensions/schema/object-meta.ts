// Metadata of custom resources and of resources embedded in them, as Go's decoder takes it: wrong types are errors with its
// texts, unknown fields are reported, empty ones go away.
// Upstream: apiextensions-apiserver@v0.30.3:pkg/apiserver/schema/objectmeta/coerce.go
import { DecodeError } from '../../schema/decode-error.ts';
import { decodeJson } from '../../schema/decode-json.ts';
import type { Schema } from '../../schema/schema.ts';
import { fromEntries, isObject, type JsonObject, objectEntries } from './json.ts';

export type DecodedObjectMeta =
  | { readonly metadata: JsonObject; readonly unknownFields: readonly string[] }
  | { readonly error: string };

/** Decodes `metadata` objects; `objectMeta` is the schema of `io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta`. */
export class ObjectMetaDecoder {
  readonly #objectMeta: Schema;

  constructor(objectMeta: Schema) {
    this.#objectMeta = objectMeta;
  }

  /**
   * `path` prefixes the unknown fields. With `dropMalformed`, fields of a wrong type vanish instead of failing, as they do when
   * an old object is read from storage. The time of creation is left out when there is none.
   */
  decode(value: unknown, path: string, dropMalformed = false): DecodedObjectMeta {
    const whole = this.#attempt(value ?? {}, path);
    if (!('error' in whole) || !dropMalformed) return whole;
    const kept = isObject(value)
      ? objectEntries(value).filter(([name, item]) => !('error' in this.#attempt(fromEntries([[name, item]]), path)))
      : [];
    return this.#attempt(fromEntries(kept), path);
  }

  #attempt(value: unknown, path: string): DecodedObjectMeta {
    try {
      const decoded = decodeJson(JSON.stringify(value), this.#objectMeta);
      const fields = isObject(decoded.value) ? decoded.value : {};
      const metadata = fields['creationTimestamp'] === null ? withoutCreation(fields) : fields;
      return { metadata, unknownFields: decoded.strictErrors.map((text) => `${path}.${fieldOf(text)}`) };
    } catch (error) {
      if (error instanceof DecodeError) return { error: error.message };
      throw error;
    }
  }
}

const withoutCreation = (fields: JsonObject): JsonObject =>
  fromEntries(objectEntries(fields).filter(([name]) => name !== 'creationTimestamp'));

/** `unknown field "a.b"` names `a.b`. */
const fieldOf = (text: string): string => /"(.*)"$/.exec(text)?.[1] ?? text;
