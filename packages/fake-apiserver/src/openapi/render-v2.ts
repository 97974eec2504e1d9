// The OpenAPI v2 document of the whole server.
// Upstream: kube-openapi@70dd3763d340:pkg/builder/openapi.go
import { type Components, toV2Schema } from './components.ts';
import { CUSTOM_MEDIA_TYPES, MEDIA_TYPES, REASONS, WATCH_TYPES } from './media-types.ts';
import { type Operation, PATCH_COMPONENT } from './operations.ts';

const REF = '#/definitions/';
const PATCH_TYPES = [
  'application/json-patch+json',
  'application/merge-patch+json',
  'application/strategic-merge-patch+json',
  'application/apply-patch+yaml',
];
const CUSTOM_PATCH_TYPES = PATCH_TYPES.filter((type) => !type.includes('strategic'));

export interface SwaggerParameter {
  readonly name: string;
  readonly in: 'query' | 'path' | 'body';
  readonly required?: boolean;
  readonly type?: string;
  readonly uniqueItems?: boolean;
  readonly schema?: { readonly $ref: string };
}

export interface SwaggerOperation {
  readonly tags: readonly string[];
  readonly operationId: string;
  readonly consumes: readonly string[];
  readonly produces: readonly string[];
  readonly schemes: readonly string[];
  readonly parameters?: readonly SwaggerParameter[];
  readonly responses: Readonly<Record<string, { readonly description: string; readonly schema?: object }>>;
  readonly 'x-kubernetes-action'?: string;
  readonly 'x-kubernetes-group-version-kind'?: object;
}

export interface Swagger {
  readonly swagger: '2.0';
  readonly info: { readonly title: string; readonly version: string };
  readonly paths: Readonly<Record<string, Readonly<Record<string, SwaggerOperation | readonly SwaggerParameter[]>>>>;
  readonly definitions: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
  readonly securityDefinitions: object;
  readonly security: readonly object[];
}

export function renderV2(operations: readonly Operation[], components: Components, version: string): Swagger {
  const paths: Record<string, Record<string, SwaggerOperation | readonly SwaggerParameter[]>> = {};
  for (const operation of [...operations].sort((a, b) => (a.path < b.path ? -1 : a.path > b.path ? 1 : 0))) {
    let item = paths[operation.path];
    if (item === undefined) {
      item = {};
      paths[operation.path] = item;
    }
    item[operation.method] = renderOperation(operation);
    if (operation.kind !== undefined) item['parameters'] = pathParameters(operation.path);
  }
  const sorted = [...components].sort(([a], [b]) => (a < b ? -1 : 1));
  return {
    swagger: '2.0',
    info: { title: 'Kubernetes', version },
    paths,
    definitions: Object.fromEntries(sorted.map(([name, schema]) => [name, toV2Schema(schema)])),
    securityDefinitions: {
      BearerToken: { description: 'Bearer Token authentication', type: 'apiKey', name: 'authorization', in: 'header' },
    },
    security: [{ BearerToken: [] }],
  };
}

function pathParameters(path: string): SwaggerParameter[] {
  const names = [...path.matchAll(/\{(\w+)\}/g)].map((match) => match[1]!).sort();
  return [
    ...names.map((name): SwaggerParameter => ({ uniqueItems: true, type: 'string', name, in: 'path', required: true })),
    { uniqueItems: true, type: 'string', name: 'pretty', in: 'query' },
  ];
}

function renderOperation(operation: Operation): SwaggerOperation {
  const responses: Record<string, { description: string; schema?: object }> = {};
  const schema = operation.answer === undefined ? { type: 'string' } : { $ref: REF + operation.answer };
  for (const code of operation.codes) responses[code] = { description: REASONS[code]!, schema };
  responses['401'] = { description: 'Unauthorized' };
  const parameters: SwaggerParameter[] = operation.query.map(({ name, type }) => ({
    uniqueItems: true,
    type,
    name,
    in: 'query',
  }));
  if (operation.body !== undefined) {
    const required = operation.method !== 'delete';
    parameters.unshift({
      name: 'body',
      in: 'body',
      ...(required ? { required } : {}),
      schema: { $ref: REF + operation.body },
    });
  }
  const { custom = false } = operation;
  const produces = custom ? CUSTOM_MEDIA_TYPES : [...MEDIA_TYPES, ...(operation.watchable ? WATCH_TYPES : [])];
  const patchTypes = custom ? CUSTOM_PATCH_TYPES : PATCH_TYPES;
  return {
    consumes: operation.body === PATCH_COMPONENT ? patchTypes : custom ? CUSTOM_MEDIA_TYPES : ['*/*'],
    produces: operation.answer === undefined ? ['*/*'] : produces,
    schemes: ['https'],
    tags: [operation.tag],
    operationId: operation.id,
    ...(parameters.length === 0 ? {} : { parameters }),
    responses,
    ...(operation.action === undefined ? {} : { 'x-kubernetes-action': operation.action }),
    ...(operation.kind === undefined ? {} : { 'x-kubernetes-group-version-kind': operation.kind }),
  };
}
