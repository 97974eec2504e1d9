// A type of the API as data: what validation, defaulting, patches, apply, protobuf and OpenAPI read.
// Built-in types come from the recorded OpenAPI of the real server, custom ones from their CRD.
// Upstream: kube-openapi's structural schema, with the x-kubernetes extensions as named fields.

export type SchemaType = 'object' | 'array' | 'string' | 'integer' | 'number' | 'boolean';

/** Lazily resolved, so recursive types are fine. Identity is stable: the same type is the same object. */
export interface Schema {
  /** Component name for a named type, e.g. `io.k8s.api.core.v1.PodSpec`; undefined for inline ones. */
  readonly name: string | undefined;
  /** Undefined means any JSON value. */
  readonly type: SchemaType | undefined;
  readonly format: string | undefined;
  /** Fields of a struct; undefined for maps and scalars. */
  readonly properties: ReadonlyMap<string, Schema> | undefined;
  readonly required: readonly string[];
  /** Values of a map; `true` allows any. */
  readonly additionalProperties: Schema | true | undefined;
  readonly items: Schema | undefined;
  readonly default: unknown;
  readonly enum: readonly unknown[] | undefined;
  readonly nullable: boolean;
  /** Default of an absent list type is atomic, as in structured-merge-diff. */
  readonly listType: 'atomic' | 'set' | 'map' | undefined;
  readonly listMapKeys: readonly string[];
  readonly mapType: 'granular' | 'atomic' | undefined;
  readonly patchStrategies: readonly ('merge' | 'replace' | 'retainKeys')[];
  readonly patchMergeKey: string | undefined;
  readonly intOrString: boolean;
  readonly preserveUnknownFields: boolean;
  readonly embeddedResource: boolean;
}

export interface SchemaRegistry {
  byName(name: string): Schema | undefined;
  byKind(group: string, version: string, kind: string): Schema | undefined;
}
