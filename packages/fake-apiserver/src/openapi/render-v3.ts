// OpenAPI v3 documents, one per group version.
// Upstream: kube-openapi@70dd3763d340:pkg/builder3/openapi.go
import { type Components, closure } from './components.ts';
import { CUSTOM_MEDIA_TYPES, MEDIA_TYPES, REASONS, WATCH_TYPES } from './media-types.ts';
import { type Operation, PATCH_COMPONENT } from './operations.ts';

const REF = '#/components/schemas/';
const PATCH_TYPES = [
  'application/apply-patch+yaml',
  'application/json-patch+json',
  'application/merge-patch+json',
  'application/strategic-merge-patch+json',
];
const CUSTOM_PATCH_TYPES = PATCH_TYPES.filter((type) => !type.includes('strategic'));

const uniqueItems = (type: string): object => ({ type, uniqueItems: true });
const queryParameter = (name: string, type: string): object => ({ name, in: 'query', schema: uniqueItems(type) });
const pathParameter = (name: string): object => ({ name, in: 'path', required: true, schema: uniqueItems('string') });

/** The document of one group version with the components its operations reach. */
export function renderV3(operations: readonly Operation[], components: Components, version: string): object {
  const used = new Set<string>();
  const paths: Record<string, Record<string, unknown>> = {};
  for (const operation of [...operations].sort((a, b) => (a.path < b.path ? -1 : a.path > b.path ? 1 : 0))) {
    let item = paths[operation.path];
    if (item === undefined) {
      item = {};
      paths[operation.path] = item;
    }
    item[operation.method] = renderOperation(operation);
    if (operation.kind !== undefined) item['parameters'] = pathParameters(operation.path);
    for (const name of [operation.body, operation.answer]) if (name !== undefined) used.add(name);
  }
  return {
    openapi: '3.0.0',
    info: { title: 'Kubernetes', version },
    paths,
    components: {
      schemas: Object.fromEntries(closure(used, components)),
      securitySchemes: {
        BearerToken: {
          type: 'apiKey',
          description: 'Bearer Token authentication',
          name: 'authorization',
          in: 'header',
        },
      },
    },
  };
}

function pathParameters(path: string): object[] {
  const names = [...path.matchAll(/\{(\w+)\}/g)].map((match) => match[1]!).sort();
  return [...names.map(pathParameter), queryParameter('pretty', 'string')];
}

function content(types: readonly string[], component: string | undefined): object {
  const schema = component === undefined ? { type: 'string' } : { $ref: REF + component };
  return Object.fromEntries(types.map((type) => [type, { schema }]));
}

function renderOperation(operation: Operation): object {
  const { custom = false } = operation;
  const readable = custom ? CUSTOM_MEDIA_TYPES : [...MEDIA_TYPES, ...(operation.watchable ? WATCH_TYPES : [])];
  const types = operation.answer === undefined ? ['*/*'] : readable;
  const responses: Record<string, object> = {};
  for (const code of operation.codes) {
    responses[code] = { description: REASONS[code]!, content: content(types, operation.answer) };
  }
  responses['401'] = { description: 'Unauthorized' };
  const patchTypes = custom ? CUSTOM_PATCH_TYPES : PATCH_TYPES;
  const bodyTypes = operation.body === PATCH_COMPONENT ? patchTypes : custom ? CUSTOM_MEDIA_TYPES : ['*/*'];
  return {
    tags: [operation.tag],
    operationId: operation.id,
    ...(operation.query.length === 0
      ? {}
      : { parameters: operation.query.map(({ name, type }) => queryParameter(name, type)) }),
    ...(operation.body === undefined ? {} : { requestBody: { content: content(bodyTypes, operation.body) } }),
    responses,
    ...(operation.action === undefined ? {} : { 'x-kubernetes-action': operation.action }),
    ...(operation.kind === undefined ? {} : { 'x-kubernetes-group-version-kind': operation.kind }),
  };
}
