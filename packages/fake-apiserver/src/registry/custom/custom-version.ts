// One served version of a CRD, compiled: what decoding, storing and validating its objects need.
// Upstream: apiextensions-apiserver@v0.30.3:pkg/apiserver/customresource_handler.go#getOrCreateServingInfoFor
import { formatGroupVersion } from '@kube-rx/apimachinery';
import { CelValidator } from '../../apiextensions/cel/cel-validator.ts';
import type { Crd, CrdVersion, Subresources } from '../../apiextensions/crd.ts';
import { errorText } from '../../apiextensions/field-error.ts';
import { coerceEmbedded } from '../../apiextensions/schema/coercion.ts';
import { applyDefaults, dropNulls } from '../../apiextensions/schema/defaulting.ts';
import { fromEntries, isObject, type JsonObject } from '../../apiextensions/schema/json.ts';
import type { ObjectMetaDecoder } from '../../apiextensions/schema/object-meta.ts';
import { pruneUnknownFields } from '../../apiextensions/schema/pruning.ts';
import { newStructural, type Structural } from '../../apiextensions/schema/structural.ts';
import { DecodeError } from '../../schema/decode-error.ts';
import type { ApiObject } from '../../storage/api-object.ts';

export interface CoerceOptions {
  /** Old objects may hold metadata that nobody would take today: it is dropped. */
  readonly fromStorage?: boolean;
}

export class CustomVersion {
  readonly name: string;
  readonly apiVersion: string;
  readonly kind: string;
  readonly version: CrdVersion;
  readonly schema: Structural;
  readonly #preserve: boolean;
  readonly #byWebhook: boolean;
  readonly #decoder: ObjectMetaDecoder;
  #cel: CelValidator | undefined | null = null;

  constructor(crd: Crd, version: CrdVersion, decoder: ObjectMetaDecoder) {
    this.name = version.name;
    this.apiVersion = formatGroupVersion({ group: crd.group, version: version.name });
    this.kind = crd.names.kind;
    this.version = version;
    this.schema = newStructural(version.schema ?? { 'x-kubernetes-preserve-unknown-fields': true });
    this.#preserve = crd.preserveUnknownFields;
    this.#byWebhook = crd.conversion?.['strategy'] === 'Webhook';
    this.#decoder = decoder;
  }

  get subresources(): Subresources {
    return this.version.subresources ?? { status: false, scale: undefined };
  }

  /** Compiled on first use: most CRDs are installed long before an object is written. */
  get cel(): CelValidator | undefined {
    if (this.#cel === null) this.#cel = CelValidator.of(this.schema, true);
    return this.#cel;
  }

  /**
   * Metadata decoded, unknown fields and stray nulls gone. Paths of unknown fields come in upstream's order: metadata, fields,
   * metadata of embedded resources. Throws a DecodeError.
   */
  coerce(
    value: JsonObject,
    options: CoerceOptions = {},
  ): { readonly object: JsonObject; readonly unknownFields: readonly string[] } {
    const dropInvalid = options.fromStorage ?? false;
    const meta = this.#decoder.decode(value['metadata'], 'metadata', dropInvalid);
    if ('error' in meta) throw new DecodeError(meta.error);
    let content: unknown = value;
    let unknown: readonly string[] = [];
    if (!this.#preserve) {
      const pruned = pruneUnknownFields(value, this.schema, true);
      content = dropNulls(pruned.value, this.schema);
      unknown = pruned.unknownFields;
    }
    const coerced = coerceEmbedded(content, this.schema, this.#decoder, { dropInvalid });
    if (coerced.error !== undefined) throw new DecodeError(errorText(coerced.error));
    const { metadata: _metadata, ...fields } = coerced.value as JsonObject;
    const generation = options.fromStorage && meta.metadata['generation'] === undefined ? { generation: 1 } : {};
    const object = fromEntries([
      ...Object.entries(fields),
      ['apiVersion', value['apiVersion']],
      ['kind', value['kind']],
      ['metadata', { ...meta.metadata, ...generation }],
    ]);
    return { object, unknownFields: [...meta.unknownFields, ...unknown, ...coerced.unknownFields] };
  }

  /** Defaults filled in; the same object when there is nothing to fill. */
  withDefaults<T extends JsonObject>(object: T): T {
    return applyDefaults(object, this.schema) as T;
  }

  /**
   * An object of any version of this kind as this version: with strategy None only the version's name changes. Throws where a
   * webhook would have to convert it.
   */
  convert(object: JsonObject): JsonObject {
    const { apiVersion } = object;
    if (apiVersion === this.apiVersion) return object;
    if (this.#byWebhook) {
      const reason = 'this server does not call webhooks';
      throw new Error(`conversion webhook for ${String(apiVersion)}, Kind=${this.kind} failed: ${reason}`);
    }
    return fromEntries([...Object.entries(object), ['apiVersion', this.apiVersion]]);
  }
}

/** Keys in order on every level, as Go writes maps. */
export function sortKeys<T>(value: T): T {
  if (Array.isArray(value)) return value.map(sortKeys) as T;
  if (!isObject(value)) return value;
  const names = Object.keys(value).sort((a, b) => (a < b ? -1 : a > b ? 1 : 0));
  return fromEntries(names.map((name) => [name, sortKeys(value[name])])) as T;
}

export const asApiObject = (object: JsonObject): ApiObject => object as unknown as ApiObject;
