// The OpenAPI documents of a set of served resources, made when they are asked for and kept.
// Upstream: kube-openapi@70dd3763d340:pkg/handler3/handler.go#OpenAPIService, pkg/handler/handler.go
import { createHash } from 'node:crypto';
import { goJsonBytes } from '@kube-rx/apimachinery';
import type { ResourceInfo } from '../registry/rest.ts';
import type { OpenApiDocument } from '../schema/openapi-schema.ts';
import { type DataProfile, loadOnce } from '../schema/profile-data.ts';
import { loadOpenApiSchemas, loadSchemaRegistry } from '../schema/schema-registry.ts';
import { customComponents } from './components.ts';
import { groupVersionPath, type Operation, operationsOf, resourcesOperation } from './operations.ts';
import { renderV2, type Swagger } from './render-v2.ts';
import { renderV3 } from './render-v3.ts';
import { encodeSwagger } from './swagger-protobuf.ts';

export interface OpenApiOptions {
  readonly profile: DataProfile;
  /** Shown as `info.version`, e.g. `v1.30.3`. */
  readonly version: string;
  /** Everything served, custom resources included. */
  readonly resources: Iterable<ResourceInfo>;
  /** `openAPIV3Schema` of a custom resource with its descriptions; undefined for none. */
  readonly customSchema?: ((info: ResourceInfo) => OpenApiDocument | undefined) | undefined;
}

export interface OpenApiBody {
  readonly bytes: Uint8Array;
  /** Upper-case hexadecimal digest, as it stands in `hash=` and, quoted, in the ETag. */
  readonly hash: string;
}

/** Documents of one generation of the served set; make a new one when resources come or go. */
export function createOpenApi(options: OpenApiOptions): OpenApi {
  return new OpenApi(options);
}

function bodyOf(bytes: Uint8Array): OpenApiBody {
  return { bytes, hash: createHash('sha512').update(bytes).digest('hex').toUpperCase() };
}

export class OpenApi {
  readonly #options: OpenApiOptions;
  /** Resources by `api/v1`, `apis/apps/v1`. */
  readonly #byPath = new Map<string, ResourceInfo[]>();
  readonly #components: Map<string, OpenApiDocument>;
  readonly #customNames = new Map<string, string>();
  readonly #bodies = new Map<string, OpenApiBody>();
  #swagger: Swagger | undefined;

  constructor(options: OpenApiOptions) {
    this.#options = options;
    this.#components = new Map(Object.entries(loadOpenApiSchemas(options.profile)));
    for (const info of options.resources) {
      const path = groupVersionPath(info.group, info.version).slice(1);
      const found = this.#byPath.get(path);
      if (found === undefined) this.#byPath.set(path, [info]);
      else found.push(info);
      if (info.custom) this.#addCustom(info);
    }
  }

  #addCustom(info: ResourceInfo): void {
    const { group, version, kind, listKind } = info;
    const name = [...group.split('.').reverse(), version, kind].join('.');
    for (const [key, document] of customComponents(name, info, this.#options.customSchema?.(info))) {
      this.#components.set(key, document);
    }
    this.#customNames.set(`${group}/${version}/${kind}`, name);
    this.#customNames.set(`${group}/${version}/${listKind}`, `${name}List`);
  }

  #componentOf = (group: string, version: string, kind: string): string | undefined =>
    this.#customNames.get(`${group}/${version}/${kind}`) ??
    loadSchemaRegistry(this.#options.profile).byKind(group, version, kind)?.name;

  #operations(path: string): Operation[] {
    const infos = this.#byPath.get(path) ?? [];
    const [first] = infos;
    if (first === undefined) return [];
    return [
      resourcesOperation(first.group, first.version),
      ...infos.flatMap((info) => operationsOf(info, this.#componentOf)),
    ];
  }

  #body(key: string, make: () => Uint8Array): OpenApiBody {
    let body = this.#bodies.get(key);
    if (body === undefined) {
      body = bodyOf(make());
      this.#bodies.set(key, body);
    }
    return body;
  }

  /** `/openapi/v3`: the documents with their hashes. */
  index(): OpenApiBody {
    return this.#body('index', () => {
      const paths = Object.fromEntries(
        [...this.#byPath.keys()].sort().map((path) => {
          const { hash } = this.groupVersion(path)!;
          return [path, { serverRelativeURL: `/openapi/v3/${path}?hash=${hash}` }];
        }),
      );
      return goJsonBytes({ paths });
    });
  }

  /** `/openapi/v3/PATH` for a path such as `apis/apps/v1`; undefined when nothing is served there. */
  groupVersion(path: string): OpenApiBody | undefined {
    const infos = this.#byPath.get(path);
    if (infos === undefined) return undefined;
    const make = (): OpenApiBody =>
      bodyOf(goJsonBytes(renderV3(this.#operations(path), this.#components, this.#options.version)));
    let body = this.#bodies.get(path);
    if (body === undefined) {
      // Built-in groups do not change with the custom resources, so their documents outlive this generation.
      body = infos.some((info) => info.custom)
        ? make()
        : loadOnce(this.#options.profile, this.#cacheKey(path, infos), make);
      this.#bodies.set(path, body);
    }
    return body;
  }

  #cacheKey(path: string, infos: readonly ResourceInfo[]): string {
    const served = infos.map(({ resource, verbs, subresources }) => [resource, verbs, subresources]);
    return `openapi ${this.#options.version} ${path} ${JSON.stringify(served)}`;
  }

  #v2(): Swagger {
    this.#swagger ??= renderV2(
      [...this.#byPath.keys()].flatMap((path) => this.#operations(path)),
      this.#components,
      this.#options.version,
    );
    return this.#swagger;
  }

  /** `/openapi/v2` as JSON. */
  swagger(): OpenApiBody {
    return this.#body('v2', () => goJsonBytes(this.#v2()));
  }

  /** `/openapi/v2` as protobuf. */
  swaggerProtobuf(): OpenApiBody {
    return this.#body('v2.protobuf', () => encodeSwagger(this.#v2()));
  }
}
