// A recorded OpenAPI v3 schema read as our Schema: references resolve when asked for, so recursive types cost nothing.
// Upstream: kube-openapi@70dd3763d340:pkg/schemaconv/openapi.go
// Differs: `allOf` with one reference and siblings is that type with the siblings laid over it; unions of schemas are not modelled.
import type { GoStruct } from './go-types.ts';
import type { Schema, SchemaType } from './schema.ts';

/** The part of an OpenAPI v3 schema that built-in types use. */
export interface OpenApiDocument {
  readonly $ref?: string;
  readonly allOf?: readonly OpenApiDocument[];
  readonly type?: SchemaType;
  readonly format?: string;
  readonly default?: unknown;
  readonly enum?: readonly unknown[];
  readonly nullable?: boolean;
  readonly required?: readonly string[];
  readonly properties?: Readonly<Record<string, OpenApiDocument>>;
  readonly additionalProperties?: OpenApiDocument | boolean;
  readonly items?: OpenApiDocument;
  readonly 'x-kubernetes-list-type'?: 'atomic' | 'set' | 'map';
  readonly 'x-kubernetes-list-map-keys'?: readonly string[];
  readonly 'x-kubernetes-map-type'?: 'granular' | 'atomic';
  readonly 'x-kubernetes-patch-strategy'?: string;
  readonly 'x-kubernetes-patch-merge-key'?: string;
  readonly 'x-kubernetes-int-or-string'?: boolean;
  readonly 'x-kubernetes-preserve-unknown-fields'?: boolean;
  readonly 'x-kubernetes-embedded-resource'?: boolean;
  readonly 'x-kubernetes-group-version-kind'?: readonly { group: string; version: string; kind: string }[];
}

/** Where references lead, and what Go knows of a named type. */
export interface OpenApiResolver {
  resolve(ref: string): OpenApiSchema | undefined;
  goStruct(name: string): GoStruct | undefined;
}

const NONE: readonly never[] = Object.freeze([]);
const PATCH_STRATEGIES: ReadonlySet<string> = new Set(['merge', 'replace', 'retainKeys']);

export class OpenApiSchema implements Schema {
  readonly name: string | undefined;
  readonly #document: OpenApiDocument;
  /** Siblings of a reference; they win over what the type says. */
  readonly #overlay: OpenApiDocument;
  readonly #resolver: OpenApiResolver;
  readonly type: SchemaType | undefined;
  readonly format: string | undefined;
  readonly required: readonly string[];
  readonly default: unknown;
  readonly enum: readonly unknown[] | undefined;
  readonly nullable: boolean;
  readonly listType: 'atomic' | 'set' | 'map' | undefined;
  readonly listMapKeys: readonly string[];
  readonly mapType: 'granular' | 'atomic' | undefined;
  readonly patchStrategies: readonly ('merge' | 'replace' | 'retainKeys')[];
  readonly patchMergeKey: string | undefined;
  readonly intOrString: boolean;
  readonly preserveUnknownFields: boolean;
  readonly embeddedResource: boolean;
  #properties: ReadonlyMap<string, OpenApiSchema> | undefined;
  #items: OpenApiSchema | undefined;
  #additional: OpenApiSchema | true | undefined;
  #goStruct: GoStruct | undefined | null = null;

  constructor(
    name: string | undefined,
    document: OpenApiDocument,
    resolver: OpenApiResolver,
    overlay: OpenApiDocument = document,
  ) {
    this.name = name;
    this.#document = document;
    this.#overlay = overlay;
    this.#resolver = resolver;
    this.type = document.type;
    this.format = document.format;
    this.required = document.required ?? NONE;
    this.default = overlay.default ?? document.default;
    this.enum = overlay.enum ?? document.enum;
    this.nullable = overlay.nullable ?? document.nullable ?? false;
    this.listType = overlay['x-kubernetes-list-type'] ?? document['x-kubernetes-list-type'];
    this.listMapKeys = overlay['x-kubernetes-list-map-keys'] ?? document['x-kubernetes-list-map-keys'] ?? NONE;
    this.mapType = overlay['x-kubernetes-map-type'] ?? document['x-kubernetes-map-type'];
    const strategies = overlay['x-kubernetes-patch-strategy'] ?? document['x-kubernetes-patch-strategy'] ?? '';
    this.patchStrategies = strategies.split(',').filter((one) => PATCH_STRATEGIES.has(one)) as never;
    this.patchMergeKey = overlay['x-kubernetes-patch-merge-key'] ?? document['x-kubernetes-patch-merge-key'];
    this.intOrString = document['x-kubernetes-int-or-string'] ?? document.format === 'int-or-string';
    this.preserveUnknownFields = document['x-kubernetes-preserve-unknown-fields'] ?? false;
    this.embeddedResource =
      overlay['x-kubernetes-embedded-resource'] ?? document['x-kubernetes-embedded-resource'] ?? false;
  }

  get properties(): ReadonlyMap<string, OpenApiSchema> | undefined {
    const raw = this.#document.properties;
    if (raw === undefined) return undefined;
    this.#properties ??= new Map(Object.entries(raw).map(([name, property]) => [name, this.#child(property)]));
    return this.#properties;
  }

  get items(): OpenApiSchema | undefined {
    const raw = this.#overlay.items ?? this.#document.items;
    if (raw === undefined) return undefined;
    this.#items ??= this.#child(raw);
    return this.#items;
  }

  get additionalProperties(): OpenApiSchema | true | undefined {
    const raw = this.#document.additionalProperties;
    if (raw === undefined || raw === false) return undefined;
    this.#additional ??= raw === true ? true : this.#child(raw);
    return this.#additional;
  }

  /** The Go struct behind a named type; undefined for scalars, maps and types whose source was not read. */
  get goStruct(): GoStruct | undefined {
    if (this.#goStruct === null) {
      this.#goStruct = this.name === undefined ? undefined : this.#resolver.goStruct(this.name);
    }
    return this.#goStruct;
  }

  /** Another named type of the same registry. */
  sibling(name: string): OpenApiSchema | undefined {
    return this.#resolver.resolve(`#/components/schemas/${name}`);
  }

  #child(raw: OpenApiDocument): OpenApiSchema {
    const ref = raw.$ref ?? (raw.allOf?.length === 1 ? raw.allOf[0]?.$ref : undefined);
    if (ref === undefined) return new OpenApiSchema(undefined, raw, this.#resolver);
    const target = this.#resolver.resolve(ref);
    if (target === undefined) return new OpenApiSchema(undefined, {}, this.#resolver);
    // A bare reference is the named type itself.
    return raw.$ref !== undefined || Object.keys(raw).length === 1 ? target : target.withOverlay(raw);
  }

  /** The same type where a field says more about it, e.g. a default or a list type. */
  withOverlay(overlay: OpenApiDocument): OpenApiSchema {
    return new OpenApiSchema(this.name, this.#document, this.#resolver, overlay);
  }
}
