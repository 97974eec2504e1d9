// Removes what a schema does not know, and says what it removed.
// Upstream: apiextensions-apiserver@v0.30.3:pkg/apiserver/schema/pruning/algorithm.go
// Differs: values are immutable here, so the pruned value is returned; it is the same one when nothing was removed.
import { isObject, type JsonObject, objectEntries, withFields } from './json.ts';
import { asResourceRoot, type Structural } from './structural.ts';

const META_FIELDS: ReadonlySet<string> = new Set(['apiVersion', 'kind', 'metadata']);

/** Notes the paths of removed fields, as `spec.list[0].field`. */
class UnknownFields {
  readonly paths: string[] = [];
  readonly #parents: string[] = [];

  get depth(): number {
    return this.#parents.length;
  }

  record(field: string): void {
    this.paths.push([...this.#parents, this.#parents.length === 0 ? field : `.${field}`].join(''));
  }

  within<T>(step: string, run: () => T): T {
    this.#parents.push(this.#parents.length === 0 || step.startsWith('[') ? step : `.${step}`);
    try {
      return run();
    } finally {
      this.#parents.pop();
    }
  }
}

function mapArray(value: readonly unknown[], unknown: UnknownFields, each: (item: unknown) => unknown): unknown {
  let changed = false;
  const out = value.map((item, position) => {
    const next = unknown.within(`[${position}]`, () => each(item));
    changed ||= next !== item;
    return next;
  });
  return changed ? out : value;
}

function prune(value: unknown, schema: Structural | undefined, unknown: UnknownFields): unknown {
  if (schema?.preserveUnknownFields) return skipPrune(value, schema, unknown);
  if (Array.isArray(value)) return mapArray(value, unknown, (item) => prune(item, schema?.items, unknown));
  if (!isObject(value)) return value;
  const changes = new Map<string, unknown>();
  for (const [name, item] of objectEntries(value)) {
    if (schema?.embeddedResource && META_FIELDS.has(name)) continue;
    const property = schema?.properties?.get(name);
    const values = schema?.additionalProperties;
    if (property !== undefined || values !== undefined) {
      const next = property ?? (values === true ? undefined : values);
      changes.set(
        name,
        unknown.within(name, () => prune(item, next, unknown)),
      );
    } else {
      if (!META_FIELDS.has(name) || unknown.depth > 0) unknown.record(name);
      changes.set(name, undefined);
    }
  }
  return withFields(value, changes);
}

/** Below x-kubernetes-preserve-unknown-fields: only named fields are looked into. */
function skipPrune(value: unknown, schema: Structural | undefined, unknown: UnknownFields): unknown {
  if (schema === undefined) return value;
  if (Array.isArray(value)) return mapArray(value, unknown, (item) => skipPrune(item, schema.items, unknown));
  if (!isObject(value)) return value;
  const changes = new Map<string, unknown>();
  for (const [name, item] of objectEntries(value)) {
    if (schema.embeddedResource && META_FIELDS.has(name)) continue;
    const property = schema.properties?.get(name);
    const values = schema.additionalProperties;
    if (property === undefined && values === undefined) continue;
    const next = property ?? (values === true ? undefined : values);
    changes.set(
      name,
      unknown.within(name, () => prune(item, next, unknown)),
    );
  }
  return withFields(value, changes);
}

export interface Pruned {
  readonly value: unknown;
  /** Sorted. */
  readonly unknownFields: readonly string[];
}

/** Prunes any value. Metadata of embedded resources, and of the root when `isResourceRoot`, is left alone. */
export function pruneUnknownFields(value: unknown, schema: Structural | undefined, isResourceRoot: boolean): Pruned {
  const unknown = new UnknownFields();
  const root = isResourceRoot && schema !== undefined ? asResourceRoot(schema) : schema;
  const pruned = prune(value, root, unknown);
  return { value: pruned, unknownFields: unknown.paths.sort() };
}

/** {@link pruneUnknownFields} for a whole resource. */
export function pruneResource(
  object: JsonObject,
  schema: Structural,
): { object: JsonObject; unknownFields: readonly string[] } {
  const { value, unknownFields } = pruneUnknownFields(object, schema, true);
  return { object: value as JsonObject, unknownFields };
}
