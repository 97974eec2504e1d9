// All built-in types of a profile, by component name and by kind.
import { loadGoTypes } from './go-types.ts';
import { type OpenApiDocument, OpenApiSchema } from './openapi-schema.ts';
import { type DataProfile, loadOnce, readData } from './profile-data.ts';
import type { SchemaRegistry } from './schema.ts';

const REF_PREFIX = '#/components/schemas/';

/** The recorded component schemas as they are; for OpenAPI documents. Treat them as read-only. */
export function loadOpenApiSchemas(profile: DataProfile): Readonly<Record<string, OpenApiDocument>> {
  return readData(profile, 'schemas.json');
}

/** The types of a profile; nothing is read before the first look-up, and the result is shared per process. */
export function loadSchemaRegistry(profile: DataProfile): SchemaRegistry {
  return loadOnce(profile, 'schema-registry', () => new OpenApiSchemaRegistry(profile));
}

class OpenApiSchemaRegistry implements SchemaRegistry {
  readonly #profile: DataProfile;
  readonly #schemas = new Map<string, OpenApiSchema>();
  #byKind: ReadonlyMap<string, string> | undefined;

  constructor(profile: DataProfile) {
    this.#profile = profile;
  }

  byName(name: string): OpenApiSchema | undefined {
    let schema = this.#schemas.get(name);
    if (schema === undefined) {
      const documents = loadOpenApiSchemas(this.#profile);
      if (!Object.hasOwn(documents, name)) return undefined;
      schema = new OpenApiSchema(name, documents[name]!, {
        resolve: (ref) => this.byName(ref.slice(REF_PREFIX.length)),
        goStruct: (goName) => loadGoTypes(this.#profile)(goName),
      });
      this.#schemas.set(name, schema);
    }
    return schema;
  }

  byKind(group: string, version: string, kind: string): OpenApiSchema | undefined {
    this.#byKind ??= this.#indexKinds();
    const name = this.#byKind.get(`${group}/${version}/${kind}`);
    return name === undefined ? undefined : this.byName(name);
  }

  #indexKinds(): ReadonlyMap<string, string> {
    const index = new Map<string, string>();
    for (const [name, document] of Object.entries(loadOpenApiSchemas(this.#profile))) {
      for (const { group, version, kind } of document['x-kubernetes-group-version-kind'] ?? []) {
        index.set(`${group}/${version}/${kind}`, name);
      }
    }
    return index;
  }
}
