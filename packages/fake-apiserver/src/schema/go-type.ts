// A schema and its Go type joined: what decoding, normalising and protobuf need to know of one value.
import type { GoField } from './go-types.ts';
import { OpenApiSchema } from './openapi-schema.ts';
import type { Schema } from './schema.ts';

export type GoKind =
  | 'struct'
  | 'list'
  | 'map'
  | 'bytes'
  | 'string'
  | 'integer'
  | 'float'
  | 'bool'
  | 'time'
  | 'microTime'
  | 'duration'
  | 'quantity'
  | 'intOrString'
  /** Any JSON, kept as it came. */
  | 'raw'
  /** A JSON schema or, instead, a boolean, a list of schemas, a list of strings. */
  | 'schemaOrBool'
  | 'schemaOrArray'
  | 'schemaOrStrings';

export interface GoStructField {
  readonly name: string;
  readonly omitEmpty: boolean;
  readonly omitZero: boolean;
  readonly type: GoType;
}

const META = 'io.k8s.apimachinery.pkg.apis.meta.v1';
const EXTENSIONS = 'io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1';

const KIND_BY_NAME: ReadonlyMap<string, GoKind> = new Map([
  [`${META}.Time`, 'time'],
  [`${META}.MicroTime`, 'microTime'],
  [`${META}.FieldsV1`, 'raw'],
  ['io.k8s.apimachinery.pkg.api.resource.Quantity', 'quantity'],
  ['io.k8s.apimachinery.pkg.util.intstr.IntOrString', 'intOrString'],
  ['io.k8s.apimachinery.pkg.runtime.RawExtension', 'raw'],
  [`${EXTENSIONS}.JSON`, 'raw'],
  [`${EXTENSIONS}.JSONSchemaPropsOrBool`, 'schemaOrBool'],
  [`${EXTENSIONS}.JSONSchemaPropsOrArray`, 'schemaOrArray'],
  [`${EXTENSIONS}.JSONSchemaPropsOrStringArray`, 'schemaOrStrings'],
]);

/** Types of the two groups whose storage is JSON, so that an empty list stays different from none. */
const STORED_AS_JSON = /^io\.k8s\.(apiextensions-apiserver|kube-aggregator)\./;

export class GoType {
  readonly schema: OpenApiSchema;
  readonly kind: GoKind;
  readonly pointer: boolean;
  /** As reflection prints it, without the pointer star. */
  readonly text: string;
  readonly storedAsJson: boolean;
  #fields: ReadonlyMap<string, GoStructField> | undefined;
  #element: GoType | undefined;

  constructor(schema: OpenApiSchema, text: string, storedAsJson = false) {
    this.schema = schema;
    this.pointer = text.startsWith('*');
    this.text = (this.pointer ? text.slice(1) : text).replaceAll('[]byte', '[]uint8');
    this.kind = kindOf(schema, this.text);
    this.storedAsJson = storedAsJson || STORED_AS_JSON.test(schema.name ?? '');
  }

  /** Bare name of a struct, for messages. */
  get structName(): string {
    return this.schema.goStruct?.name ?? '';
  }

  /** Fields of a struct in Go's order; empty for other kinds. */
  get fields(): ReadonlyMap<string, GoStructField> {
    this.#fields ??= this.#makeFields();
    return this.#fields;
  }

  /** Type of the items of a list, or of the values of a map. */
  get element(): GoType {
    this.#element ??= this.#makeElement();
    return this.#element;
  }

  /** The JSON schema type behind one of the `schemaOr...` kinds. */
  get schemaProps(): GoType {
    this.#element ??= goTypeOf(this.schema.sibling(`${EXTENSIONS}.JSONSchemaProps`) ?? this.schema);
    return this.#element;
  }

  #makeFields(): ReadonlyMap<string, GoStructField> {
    const struct = this.kind === 'struct' ? this.schema.goStruct : undefined;
    const properties = this.schema.properties;
    const fields = new Map<string, GoStructField>();
    for (const field of struct?.fields ?? []) {
      const schema = properties?.get(field.name);
      if (schema !== undefined) fields.set(field.name, this.#makeField(field, schema));
    }
    return fields;
  }

  #makeField(field: GoField, schema: OpenApiSchema): GoStructField {
    const { name, omitEmpty, omitZero } = field;
    return { name, omitEmpty, omitZero, type: new GoType(schema, field.type, this.storedAsJson) };
  }

  #makeElement(): GoType {
    const { items, additionalProperties } = this.schema;
    const schema = this.kind === 'list' ? items : additionalProperties === true ? undefined : additionalProperties;
    if (schema === undefined) throw new TypeError(`${this.text} has no element type`);
    const spelled = /^(?:\[\]|map\[[\w.]+\])(.+)$/.exec(this.text)?.[1];
    return new GoType(schema, spelled ?? typeTextOf(schema), this.storedAsJson);
  }
}

function kindOf(schema: OpenApiSchema, text: string): GoKind {
  const special = schema.name === undefined ? undefined : KIND_BY_NAME.get(schema.name);
  if (special !== undefined) return special;
  if (text === 'v1.Duration') return 'duration';
  switch (schema.type) {
    case 'array':
      return 'list';
    case 'string':
      return text.endsWith('[]uint8') || schema.format === 'byte' ? 'bytes' : 'string';
    case 'integer':
      return 'integer';
    case 'number':
      return 'float';
    case 'boolean':
      return 'bool';
    case 'object':
      if (schema.goStruct !== undefined) return 'struct';
      if (schema.additionalProperties !== undefined && schema.additionalProperties !== true) return 'map';
      return schema.name === undefined ? 'raw' : 'struct';
    default:
      return 'raw';
  }
}

/** How Go would print the type of a schema that stands alone. */
function typeTextOf(schema: OpenApiSchema): string {
  if (schema.name !== undefined) return schema.name.split('.').slice(-2).join('.');
  if (schema.type === 'integer') return schema.format ?? 'int64';
  if (schema.type === 'number') return 'float64';
  return schema.type === 'boolean' ? 'bool' : 'string';
}

const cache = new WeakMap<OpenApiSchema, GoType>();

/** The Go type of a named built-in schema, made once. Undefined for schemas that do not come from recorded data. */
export function goTypeOf(schema: OpenApiSchema): GoType;
export function goTypeOf(schema: Schema): GoType | undefined;
export function goTypeOf(schema: Schema): GoType | undefined {
  if (!(schema instanceof OpenApiSchema)) return undefined;
  let type = cache.get(schema);
  if (type === undefined) {
    type = new GoType(schema, typeTextOf(schema));
    cache.set(schema, type);
  }
  return type;
}
