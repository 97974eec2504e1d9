// Bodies of create and update: from bytes to an object of the expected kind, with upstream's words for everything that is wrong.
// Upstream: apimachinery@v0.30.3:pkg/runtime/serializer/json/json.go, apiserver@v0.30.3:pkg/endpoints/handlers/rest.go#transformDecodeError
import { type FieldValidation, goQuote, newBadRequest, parseGroupVersion } from '@kube-rx/apimachinery';
import { decodeProtobuf, ProtobufError } from '../protobuf/index.ts';
import type { RequestContext, ResourceInfo, ResourceStore } from '../registry/rest.ts';
import { DecodeError, strictDecodingError } from '../schema/decode-error.ts';
import { decodeJson } from '../schema/decode-json.ts';
import { fromUnstructured } from '../schema/from-unstructured.ts';
import type { Schema, SchemaRegistry } from '../schema/schema.ts';
import type { ApiObject } from '../storage/api-object.ts';
import { goPackageOf } from './go-names.ts';
import type { MediaType } from './negotiation.ts';
import { readYaml, type YamlDocument } from './yaml-reader.ts';

const SCHEME = 'scheme "pkg/runtime/scheme.go:100"';
const GO_STRUCT =
  'struct { APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" }';

export interface NamedKind {
  readonly apiVersion: string;
  readonly kind: string;
}

/** A body as JSON text; throws a DecodeError for YAML that cannot be read. */
export function bodyToJson(body: Buffer, mediaType: MediaType): string {
  return readBody(body, mediaType).json;
}

function readBody(body: Buffer, mediaType: MediaType): YamlDocument {
  const json = body.toString('utf8');
  return mediaType === 'application/yaml' ? readYaml(json) : { json, duplicates: undefined };
}

/** What the document says it is; '' where it says nothing. Throws a DecodeError with upstream's text. */
export function readKind(text: string): NamedKind {
  const value = parse(text);
  if (value === null) return { apiVersion: '', kind: '' };
  if (typeof value !== 'object' || Array.isArray(value)) {
    const kind = Array.isArray(value) ? 'array' : typeof value === 'boolean' ? 'bool' : typeof value;
    throw kindError(`json: cannot unmarshal ${kind} into Go value of type ${GO_STRUCT}`);
  }
  return { apiVersion: textField(value, 'apiVersion'), kind: textField(value, 'kind') };
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    try {
      // Only for its message; what JavaScript refuses and Go takes is too deep.
      decodeJson(text);
    } catch (error) {
      if (error instanceof DecodeError) throw kindError(error.message);
      throw error;
    }
    throw kindError('exceeded max depth');
  }
}

const kindError = (why: string): DecodeError => new DecodeError(`couldn't get version/kind; json parse error: ${why}`);

function textField(value: object, field: string): string {
  const found: unknown = Object.hasOwn(value, field) ? (value as Record<string, unknown>)[field] : undefined;
  if (found === undefined || found === null) return '';
  if (typeof found === 'string') return found;
  const kind = Array.isArray(found) ? 'array' : typeof found === 'boolean' ? 'bool' : typeof found;
  throw kindError(`json: cannot unmarshal ${kind} into Go struct field .${field} of type string`);
}

/** The first bytes of a body as a message shows them. */
export function summarizeBody(body: Buffer, max = 30): string {
  if (body.length === 0) return '<empty>';
  const text = body[0] === 0x7b ? body.toString('utf8', 0, max + 1) : body.toString('hex', 0, max + 1);
  if (body[0] === 0x7b) return body.length > max ? `${body.toString('utf8', 0, max)} ...` : text;
  const hex = body.toString('hex');
  return hex.length > max ? `${hex.slice(0, max)} ...` : hex;
}

/** What decoding has to know of a resource; a store is one. */
export type DecodeTarget = Pick<ResourceStore, 'info' | 'decodeCustom'>;

export class ObjectDecoder {
  readonly #schemas: SchemaRegistry;

  constructor(schemas: SchemaRegistry) {
    this.#schemas = schemas;
  }

  /** Throws a 400 that names kind, version and mistake; unknown and duplicate fields are warnings unless validation is strict. */
  decode(
    body: Buffer,
    mediaType: MediaType,
    target: DecodeTarget,
    validation: FieldValidation,
    ctx: Pick<RequestContext, 'warn'>,
  ): ApiObject {
    const { info } = target;
    if (mediaType === 'application/vnd.kubernetes.protobuf') return this.#fromProtobuf(body, info);
    let text: string;
    let duplicates: string | undefined;
    let named: NamedKind;
    try {
      ({ json: text, duplicates } = readBody(body, mediaType));
      named = readKind(text);
      if (parseGroupVersion(named.apiVersion) === undefined) {
        throw new DecodeError(`unexpected GroupVersion string: ${named.apiVersion}`);
      }
      if (info.custom) this.#requireNamed(named, text);
    } catch (error) {
      if (!(error instanceof DecodeError)) throw error;
      const message = `the object provided is unrecognized (must be of type ${info.kind}): ${error.message} (${summarizeBody(body)})`;
      throw newBadRequest(message);
    }
    const refuse = (why: string): never => {
      const kind = named.kind === '' ? info.kind : named.kind;
      const version = parseGroupVersion(named.apiVersion === '' ? versionOf(info) : named.apiVersion)?.version ?? '';
      throw newBadRequest(`${kind} in version ${goQuote(version)} cannot be handled as a ${info.kind}: ${why}`);
    };
    try {
      const { object, strictErrors: found } = this.decodeDocument(text, named, target);
      const strictErrors = duplicates === undefined ? found : [duplicates, ...found];
      if (strictErrors.length > 0 && validation === 'Strict') refuse(strictDecodingError(strictErrors));
      if (validation === 'Warn') {
        for (const text of duplicateWarnings(duplicates)) ctx.warn(text);
        for (const text of found) ctx.warn(text);
      }
      return object;
    } catch (error) {
      if (error instanceof DecodeError) return refuse(error.message);
      throw error;
    }
  }

  /**
   * The document, which must be valid JSON, as an object of the kind, and what strict decoding finds in it. Throws a DecodeError
   * that says what is wrong without naming the kind, or a 400 for a version that is known but not the one of the request.
   */
  decodeDocument(
    text: string,
    named: NamedKind,
    target: DecodeTarget,
  ): { readonly object: ApiObject; readonly strictErrors: readonly string[] } {
    const { info } = target;
    const expected = versionOf(info);
    const apiVersion = named.apiVersion === '' && !info.custom ? expected : named.apiVersion;
    this.#checkKind(named.kind === '' ? info.kind : named.kind, apiVersion, info);
    const decoded = decodeJson(text, info.custom ? undefined : info.schema, { isJson: true });
    if (apiVersion !== expected) {
      throw newBadRequest(
        `the API version in the data (${apiVersion}) does not match the expected API version (${expected})`,
      );
    }
    if (target.decodeCustom === undefined) {
      return { object: withType(decoded.value, info), strictErrors: decoded.strictErrors };
    }
    const custom = target.decodeCustom(untyped(decoded.value, info));
    return { object: custom.object, strictErrors: [...decoded.strictErrors, ...custom.strictErrors] };
  }

  /**
   * As {@link decodeDocument}, for what a textual patch made of a stored object. The version of a custom one is left to validation,
   * and its empty managedFields are lost on the way.
   */
  decodePatched(text: string, named: NamedKind, target: DecodeTarget): ReturnType<ObjectDecoder['decodeDocument']> {
    const { info } = target;
    if (!info.custom) return this.decodeDocument(text, named, target);
    const { object, strictErrors } = this.decodeDocument(text, { ...named, apiVersion: versionOf(info) }, target);
    const { managedFields, ...metadata } = object.metadata;
    const shown = managedFields?.length === 0 ? { ...object, metadata } : object;
    return { object: { ...shown, apiVersion: named.apiVersion }, strictErrors };
  }

  /** Plain data as an object of the kind, as the result of a strategic merge is judged. Throws a DecodeError. */
  convert(
    value: unknown,
    info: ResourceInfo,
  ): { readonly object: ApiObject; readonly strictErrors: readonly string[] } {
    const converted = fromUnstructured(value, info.schema);
    return { object: withType(converted.value, info), strictErrors: converted.strictErrors };
  }

  schemaOf(group: string, version: string, kind: string): Schema | undefined {
    return this.#schemas.byKind(group, version, kind);
  }

  /** A document of a named type that is no resource, such as DeleteOptions. */
  decodeNamed(text: string, schemaName: string): unknown {
    return decodeJson(text, this.#schemas.byName(schemaName)).value;
  }

  #requireNamed(named: NamedKind, text: string): void {
    if (named.kind === '') throw new DecodeError(`Object 'Kind' is missing in '${text}'`);
  }

  #checkKind(kind: string, apiVersion: string, info: ResourceInfo): void {
    if (info.custom || (kind === info.kind && apiVersion === versionOf(info))) return;
    const { group, version } = parseGroupVersion(apiVersion)!;
    if (this.#schemas.byKind(group, version, kind) === undefined) {
      throw new DecodeError(`no kind ${goQuote(kind)} is registered for version ${goQuote(apiVersion)} in ${SCHEME}`);
    }
    if (kind !== info.kind) {
      const wanted = `${goPackageOf(info.group)}.${info.kind}`;
      throw new DecodeError(`converting (${version}.${kind}) to (${wanted}): unknown conversion`);
    }
  }

  #fromProtobuf(body: Buffer, info: ResourceInfo): ApiObject {
    const expected = versionOf(info);
    try {
      const object = decodeProtobuf(body, { apiVersion: expected, kind: info.kind });
      this.#checkKind(object.kind, object.apiVersion, info);
      if (object.apiVersion === expected) return withType(object, info);
      throw newBadRequest(
        `the API version in the data (${object.apiVersion}) does not match the expected API version (${expected})`,
      );
    } catch (error) {
      if (!(error instanceof ProtobufError || error instanceof DecodeError)) throw error;
      throw newBadRequest(
        `the object provided is unrecognized (must be of type ${info.kind}): ${error.message} (${summarizeBody(body)})`,
      );
    }
  }
}

const YAML_PREFIX = 'yaml: unmarshal errors:\n';

/** Each duplicate key of a YAML document as a warning of its own. */
export function duplicateWarnings(duplicates: string | undefined): readonly string[] {
  if (duplicates === undefined) return [];
  if (!duplicates.startsWith(YAML_PREFIX)) return [duplicates];
  return duplicates
    .slice(YAML_PREFIX.length)
    .split('\n')
    .map((line) => line.trim());
}

function versionOf(info: ResourceInfo): string {
  return info.group === '' ? info.version : `${info.group}/${info.version}`;
}

/** A custom object as it came, for its own decoder to judge. */
function untyped(value: unknown, info: ResourceInfo): Readonly<Record<string, unknown>> {
  const { metadata } = value as { readonly metadata?: unknown };
  return { ...withType(value, info), ...(metadata === undefined ? {} : { metadata }) };
}

/** Kind and version first, and metadata always there. */
function withType(value: unknown, info: ResourceInfo): ApiObject {
  const fields = typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
  const { kind: _kind, apiVersion: _apiVersion, metadata, ...rest } = fields;
  return {
    kind: info.custom ? String(fields['kind']) : info.kind,
    apiVersion: versionOf(info),
    metadata: typeof metadata === 'object' && metadata !== null ? metadata : {},
    ...rest,
  };
}
