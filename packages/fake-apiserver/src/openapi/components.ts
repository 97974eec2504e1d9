// Component schemas: which ones a document needs, and their forms in v2.
import type { OpenApiDocument } from '../schema/openapi-schema.ts';

export type Components = ReadonlyMap<string, OpenApiDocument>;

const PREFIX_V3 = '#/components/schemas/';
const PREFIX_V2 = '#/definitions/';

/** The components named and all they refer to, sorted by name. */
export function closure(names: Iterable<string>, all: Components): Map<string, OpenApiDocument> {
  const found = new Map<string, OpenApiDocument>();
  const open = [...names];
  for (let name = open.pop(); name !== undefined; name = open.pop()) {
    const document = all.get(name);
    if (found.has(name) || document === undefined) continue;
    found.set(name, document);
    for (const ref of references(document)) open.push(ref);
  }
  return new Map([...found].sort(([a], [b]) => (a < b ? -1 : 1)));
}

function* references(value: unknown): Iterable<string> {
  if (typeof value !== 'object' || value === null) return;
  for (const [key, child] of Object.entries(value)) {
    if (key === '$ref' && typeof child === 'string') yield child.slice(PREFIX_V3.length);
    else yield* references(child);
  }
}

const KEPT_V2: ReadonlySet<string> = new Set([
  'description',
  'format',
  'items',
  'properties',
  'additionalProperties',
  'required',
  'type',
  'title',
  'pattern',
  'maximum',
  'minimum',
  'maxLength',
  'minLength',
  'maxItems',
  'minItems',
]);

/** v2 knows neither alternatives nor siblings of references; defaults and enums are left out as upstream leaves them. */
export function toV2Schema(schema: OpenApiDocument): Record<string, unknown> {
  const ref = schema.$ref ?? schema.allOf?.[0]?.$ref;
  if (ref !== undefined) {
    const { description } = schema as { description?: unknown };
    return {
      ...(description === undefined ? {} : { description }),
      $ref: PREFIX_V2 + ref.slice(PREFIX_V3.length),
    };
  }
  const out: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(schema)) {
    if (key.startsWith('x-kubernetes-')) out[key] = value;
    else if (KEPT_V2.has(key)) out[key] = toV2Value(key, value);
  }
  // A value of several types is a string in v2, e.g. a quantity.
  if ((schema as { oneOf?: unknown }).oneOf !== undefined && schema.type === undefined) out['type'] = 'string';
  return out;
}

function toV2Value(key: string, value: unknown): unknown {
  if (key === 'properties') {
    return Object.fromEntries(
      Object.entries(value as Record<string, OpenApiDocument>).map(([name, property]) => [name, toV2Schema(property)]),
    );
  }
  if (key === 'items' || (key === 'additionalProperties' && typeof value === 'object')) {
    return toV2Schema(value as OpenApiDocument);
  }
  return value;
}

/** A custom kind and its list as components: `openAPIV3Schema` with the fields every resource has. */
export function customComponents(
  name: string,
  kind: { readonly group: string; readonly version: string; readonly kind: string; readonly listKind: string },
  schema: OpenApiDocument | undefined,
): [string, OpenApiDocument][] {
  const { group, version } = kind;
  const gvk = (one: string): OpenApiDocument['x-kubernetes-group-version-kind'] => [{ group, kind: one, version }];
  const meta = (type: string): OpenApiDocument => ({
    allOf: [{ $ref: `${PREFIX_V3}io.k8s.apimachinery.pkg.apis.meta.v1.${type}` }],
  });
  const text: OpenApiDocument = { type: 'string' };
  const item: OpenApiDocument = {
    ...(schema ?? { 'x-kubernetes-preserve-unknown-fields': true }),
    type: 'object',
    properties: {
      ...schema?.properties,
      apiVersion: schema?.properties?.['apiVersion'] ?? text,
      kind: schema?.properties?.['kind'] ?? text,
      metadata: meta('ObjectMeta'),
    },
    'x-kubernetes-group-version-kind': gvk(kind.kind)!,
  };
  const list: OpenApiDocument = {
    type: 'object',
    required: ['items'],
    properties: {
      apiVersion: text,
      items: { type: 'array', items: { $ref: PREFIX_V3 + name } },
      kind: text,
      metadata: meta('ListMeta'),
    },
    'x-kubernetes-group-version-kind': gvk(kind.listKind)!,
  };
  return [
    [name, item],
    [`${name}List`, list],
  ];
}
