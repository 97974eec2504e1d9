// What keeps a schema from being read as a structural one at all.
// Upstream: apiextensions-apiserver@v0.30.3:pkg/apiserver/schema/convert.go
import { isObject, type JsonObject } from '../schema/json.ts';

const isSet = (value: unknown): boolean => {
  if (isObject(value)) return Object.keys(value).length > 0;
  return typeof value === 'string' && value !== '';
};

function unsupported(schema: JsonObject): string | undefined {
  const name = ['id', '$schema', '$ref', 'patternProperties', 'dependencies'].find((field) => isSet(schema[field]));
  if (name !== undefined) return name === '$schema' ? 'schema' : name;
  if (schema['additionalItems'] !== undefined && schema['additionalItems'] !== null) return 'additionalItems';
  return isSet(schema['definitions']) ? 'definitions' : undefined;
}

function below(schema: JsonObject): readonly unknown[] {
  const { not, items, properties } = schema as { not?: unknown; items?: unknown; properties?: unknown };
  const junctors = ['allOf', 'anyOf', 'oneOf'].flatMap((name) => {
    const clauses = schema[name];
    return Array.isArray(clauses) ? (clauses as readonly unknown[]) : [];
  });
  return [
    not,
    ...junctors,
    schema['additionalProperties'],
    items,
    ...(isObject(properties) ? Object.values(properties) : []),
  ];
}

/** The first thing that is wrong, in upstream's words. */
export function conversionProblem(schema: JsonObject): string | undefined {
  const field = unsupported(schema);
  if (field !== undefined) return `OpenAPIV3Schema '${field}' is not supported`;
  if (schema['x-kubernetes-preserve-unknown-fields'] === false) {
    return "internal error: 'x-kubernetes-preserve-unknown-fields' must be true or undefined";
  }
  if (Array.isArray(schema['items'])) return "OpenAPIV3Schema 'items' must be a schema, but is an array";
  for (const child of below(schema)) {
    const problem = isObject(child) ? conversionProblem(child) : undefined;
    if (problem !== undefined) return problem;
  }
  return undefined;
}
