// /openapi/v2 and /openapi/v3 over the served set; the documents are made anew when it changes.

import { writeBytes } from '../endpoints/response-writers.ts';
import { createOpenApi, type OpenApi, type OpenApiOptions, serveOpenApi } from '../openapi/index.ts';
import type { ResourceCatalog } from '../registry/rest.ts';
import type { OpenApiDocument } from '../schema/openapi-schema.ts';
import type { ApiObject } from '../storage/api-object.ts';
import type { PathHandler, PathRegistry } from './path-registry.ts';

export interface OpenApiPathsOptions extends Pick<OpenApiOptions, 'profile' | 'version' | 'customSchema'> {
  readonly catalog: ResourceCatalog;
}

export function installOpenApi(paths: PathRegistry, { catalog, ...options }: OpenApiPathsOptions): void {
  let documents: OpenApi | undefined;
  let generation = -1;
  const current = (): OpenApi => {
    if (documents === undefined || generation !== catalog.generation) {
      generation = catalog.generation;
      documents = createOpenApi({ ...options, resources: catalog.all() });
    }
    return documents;
  };
  const serve: PathHandler = async (request, response) => {
    const { status, headers, body } = serveOpenApi(current(), {
      path: request.path,
      hash: request.query.first('hash') ?? '',
      accept: request.header('accept') ?? '',
      ifNoneMatch: request.header('if-none-match') ?? '',
    });
    const { 'content-type': type, ...others } = headers;
    // The large document is always offered compressed, so what is cached depends on that header, too.
    if (request.path === '/openapi/v2' && status === 200) response.addHeader('vary', 'Accept-Encoding');
    for (const [name, value] of Object.entries(others)) {
      if (name === 'vary') response.addHeader(name, value);
      else response.setHeader(name, value);
    }
    const bytes = Buffer.from(body.buffer, body.byteOffset, body.byteLength);
    if (type === undefined || bytes.length === 0) return response.send(status, [bytes]);
    return writeBytes(request, response, status, type, [bytes]);
  };
  paths.handle('/openapi/v2', serve);
  paths.handle('/openapi/v3', serve);
  paths.list('/openapi/v3/');
  paths.handlePrefix('/openapi/v3/', serve);
}

/** The schema a CRD gives one of its versions. */
export function customSchemaOf(definition: ApiObject | undefined, version: string): OpenApiDocument | undefined {
  const { versions = [] } = (definition?.['spec'] ?? {}) as { versions?: readonly CrdVersion[] };
  return versions.find((one) => one.name === version)?.schema?.openAPIV3Schema;
}

interface CrdVersion {
  readonly name: string;
  readonly schema?: { readonly openAPIV3Schema?: OpenApiDocument };
}
