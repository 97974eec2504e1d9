import { describe, expect, it } from 'vitest';
import type { ResourceInfo } from '../registry/rest.ts';
import { loadDiscovery, loadSchemaRegistry } from '../schema/index.ts';
import { createOpenApi, serveOpenApi } from './index.ts';

const registry = loadSchemaRegistry('v1.30');
const builtins: ResourceInfo[] = loadDiscovery('v1.30').flatMap((group) =>
  group.versions.flatMap((version) =>
    version.resources.map((resource) => ({
      group: group.name,
      version: version.name,
      resource: resource.name,
      singular: resource.singular,
      kind: resource.kind,
      listKind: `${resource.kind}List`,
      namespaced: resource.namespaced,
      verbs: resource.verbs,
      shortNames: resource.shortNames,
      categories: resource.categories,
      subresources: resource.subresources.map((sub) => ({
        name: sub.name,
        group: sub.kindGroup,
        version: sub.kindVersion,
        kind: sub.kind,
        verbs: sub.verbs,
      })),
      schema: registry.byKind(resource.kindGroup, resource.kindVersion, resource.kind),
      custom: false,
    })),
  ),
);
const widgets: ResourceInfo = {
  group: 'tour.example.com',
  version: 'v1',
  resource: 'widgets',
  singular: 'widget',
  kind: 'Widget',
  listKind: 'WidgetList',
  namespaced: true,
  verbs: ['get', 'list', 'watch', 'patch', 'update', 'create', 'delete', 'deletecollection'],
  shortNames: [],
  categories: [],
  subresources: [],
  schema: undefined,
  custom: true,
};
const openApi = createOpenApi({
  profile: 'v1.30',
  version: 'v1.30.3',
  resources: [...builtins, widgets],
  customSchema: () => ({ type: 'object', properties: { spec: { type: 'object', description: 'spec text' } as never } }),
});

interface DocumentOperation {
  readonly operationId: string;
  readonly parameters?: readonly { readonly name: string }[];
  readonly requestBody?: { readonly content: object };
  readonly consumes?: readonly string[];
  readonly produces?: readonly string[];
  readonly 'x-kubernetes-group-version-kind'?: object;
}

interface Document {
  readonly openapi?: string;
  readonly swagger?: string;
  readonly paths: Record<string, Record<string, DocumentOperation>>;
  readonly components: { schemas: Record<string, Record<string, unknown>> };
  readonly definitions: Record<string, Record<string, unknown>>;
}
const parse = (bytes: Uint8Array | undefined): Document => JSON.parse(Buffer.from(bytes ?? []).toString()) as Document;
const get = (path: string, more: object = {}) =>
  serveOpenApi(openApi, { path, hash: '', accept: '', ifNoneMatch: '', ...more });

/** All references in a document that lead nowhere. */
function dangling(document: Document, prefix: string, known: Record<string, unknown>): string[] {
  const refs = JSON.stringify(document).matchAll(/"\$ref":"([^"]+)"/g);
  return [...new Set([...refs].map(([, ref]) => ref!))].filter(
    (ref) => !(ref.startsWith(prefix) && ref.slice(prefix.length) in known),
  );
}

describe('OpenAPI v3', () => {
  it('lists a document per group version, with the hash of its content', () => {
    const { paths } = parse(get('/openapi/v3').body) as unknown as {
      paths: Record<string, { serverRelativeURL: string }>;
    };
    expect(paths['apis/apps/v1']?.serverRelativeURL).toMatch(/^\/openapi\/v3\/apis\/apps\/v1\?hash=[0-9A-F]{128}$/);
    expect(Object.keys(paths)).toContain('api/v1');
    expect(get('/openapi/v3').headers['content-type']).toBe('text/plain; charset=utf-8');
  });

  it('tells clients that a kind takes fieldValidation, and which type it has', () => {
    const document = parse(openApi.groupVersion('apis/apps/v1')?.bytes);
    expect(document.openapi).toBe('3.0.0');
    const patch = document.paths['/apis/apps/v1/namespaces/{namespace}/deployments/{name}']?.['patch'];
    expect(patch?.operationId).toBe('patchAppsV1NamespacedDeployment');
    expect(patch?.['x-kubernetes-group-version-kind']).toEqual({ group: 'apps', version: 'v1', kind: 'Deployment' });
    expect(patch?.parameters?.map(({ name }) => name)).toContain('fieldValidation');
    expect(document.components.schemas['io.k8s.api.apps.v1.Deployment']?.['x-kubernetes-group-version-kind']).toEqual([
      { group: 'apps', kind: 'Deployment', version: 'v1' },
    ]);
  });

  it('has every component it refers to', () => {
    for (const path of ['api/v1', 'apis/apps/v1', 'apis/autoscaling/v2', 'apis/tour.example.com/v1']) {
      const document = parse(openApi.groupVersion(path)?.bytes);
      expect(dangling(document, '#/components/schemas/', document.components.schemas)).toEqual([]);
    }
  });

  it('describes a custom resource in its own words', () => {
    const { schemas } = parse(openApi.groupVersion('apis/tour.example.com/v1')?.bytes).components;
    expect(schemas['com.example.tour.v1.Widget']).toMatchObject({
      properties: { spec: { description: 'spec text' }, metadata: {}, kind: { type: 'string' } },
      'x-kubernetes-group-version-kind': [{ group: 'tour.example.com', kind: 'Widget', version: 'v1' }],
    });
    expect(schemas).toHaveProperty(['com.example.tour.v1.WidgetList']);
  });
});

describe('the operations of custom resources', () => {
  it('offer no strategic merge patch', () => {
    const path = '/apis/tour.example.com/v1/namespaces/{namespace}/widgets/{name}';
    const v3 = parse(openApi.groupVersion('apis/tour.example.com/v1')?.bytes).paths[path]?.['patch'];
    const types = ['application/apply-patch+yaml', 'application/json-patch+json', 'application/merge-patch+json'];
    expect(Object.keys(v3?.requestBody?.content ?? {})).toEqual(types);
    const v2 = parse(get('/openapi/v2', { accept: 'application/json' }).body).paths[path]?.['patch'];
    expect([...(v2?.consumes ?? [])].sort()).toEqual(types);
    expect(v2?.produces).toEqual(['application/json', 'application/yaml']);
  });
});

describe('OpenAPI v2', () => {
  it('names operations as upstream', () => {
    const document = parse(get('/openapi/v2', { accept: 'application/json' }).body);
    expect(document.swagger).toBe('2.0');
    const ids = Object.values(document.paths).flatMap((item) =>
      Object.values(item).map((operation) => operation.operationId),
    );
    for (const id of [
      'listCoreV1NamespacedConfigMap',
      'listCoreV1ConfigMapForAllNamespaces',
      'deleteCoreV1CollectionNamespacedPod',
      'readAppsV1NamespacedDeploymentScale',
      'replaceCoreV1NodeStatus',
      'createCoreV1NamespacedServiceAccountToken',
      'connectCoreV1GetNamespacedPodExec',
      'listRbacAuthorizationV1ClusterRole',
      'listFlowcontrolApiserverV1FlowSchema',
      'getAppsV1APIResources',
    ]) {
      expect(ids).toContain(id);
    }
    const all = ids.filter((id) => id !== undefined);
    expect(new Set(all).size).toBe(all.length);
  });

  it('has every definition it refers to, without what v2 does not know', () => {
    const document = parse(openApi.swagger().bytes);
    expect(dangling(document, '#/definitions/', document.definitions)).toEqual([]);
    // A type with fields of these names.
    const { 'io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSONSchemaProps': _, ...others } =
      document.definitions;
    expect(JSON.stringify(others)).not.toMatch(/"(allOf|oneOf|anyOf|nullable)":[[{t]/);
    expect(document.definitions['io.k8s.apimachinery.pkg.util.intstr.IntOrString']).toEqual({
      format: 'int-or-string',
      type: 'string',
    });
  });

  it('is protobuf for those who ask for it', () => {
    const accept = 'application/com.github.proto-openapi.spec.v2@v1.0+protobuf';
    const { headers, body } = get('/openapi/v2', { accept });
    expect(headers['content-type']).toBe('application/com.github.proto-openapi.spec.v2.v1.0+protobuf');
    expect(Buffer.from(body.subarray(0, 5)).toString('latin1')).toBe('\x0a\x032.0');
  });
});

describe('serveOpenApi', () => {
  it('answers 304 to a known ETag', () => {
    const { headers } = get('/openapi/v3');
    expect(get('/openapi/v3', { ifNoneMatch: headers['etag'] })).toMatchObject({
      status: 304,
      body: new Uint8Array(0),
    });
  });

  it('sends an outdated hash to the present document and lets a right one be cached', () => {
    const { hash } = openApi.groupVersion('api/v1')!;
    expect(get('/openapi/v3/api/v1', { hash: 'OLD' })).toMatchObject({
      status: 301,
      headers: { location: `/openapi/v3/api/v1?hash=${hash}` },
    });
    expect(get('/openapi/v3/api/v1', { hash })).toMatchObject({
      status: 200,
      headers: { 'cache-control': 'public, immutable' },
    });
  });

  it('refuses unknown paths and media types', () => {
    expect(get('/openapi/v3/apis/none/v1').status).toBe(404);
    expect(get('/openapi/v9').status).toBe(404);
    expect(get('/openapi/v2', { accept: 'text/html' }).status).toBe(406);
    expect(get('/openapi/v3/api/v1', { accept: 'text/html' }).status).toBe(406);
  });
});
