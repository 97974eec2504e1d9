import { settle, VirtualClock } from '@kube-rx/apimachinery';
import { describe, expect, it } from 'vitest';
import { MemoryApi } from '../../test/support/memory-api.ts';
import { jsonResponse } from '../../test/support/memory-body.ts';
import { isConfigError } from '../errors.ts';
import { RestClient } from '../rest/rest-client.ts';
import type { DiscoveryClientOptions } from './discovery-client.ts';
import { DiscoveryClient } from './discovery-client.ts';
import { KubeClient } from './kube-client.ts';

const pods = {
  name: 'pods',
  singularName: 'pod',
  namespaced: true,
  kind: 'Pod',
  verbs: ['get', 'list'],
  shortNames: ['po'],
  categories: ['all'],
};
const legacy: Record<string, unknown> = {
  '/api': { kind: 'APIVersions', versions: ['v1'] },
  '/apis': {
    kind: 'APIGroupList',
    groups: [
      {
        name: 'apps',
        versions: [
          { groupVersion: 'apps/v1beta1', version: 'v1beta1' },
          { groupVersion: 'apps/v1', version: 'v1' },
        ],
        preferredVersion: { groupVersion: 'apps/v1', version: 'v1' },
      },
      {
        name: 'metrics.k8s.io',
        versions: [{ groupVersion: 'metrics.k8s.io/v1beta1', version: 'v1beta1' }],
        preferredVersion: {},
      },
    ],
  },
  '/api/v1': {
    kind: 'APIResourceList',
    groupVersion: 'v1',
    resources: [
      pods,
      { name: 'pods/status', kind: 'Pod', verbs: ['get', 'patch'] },
      { name: 'pods/eviction', kind: 'Eviction', group: 'policy', version: 'v1', verbs: ['create'] },
      { name: 'nodes', singularName: '', namespaced: false, kind: 'Node', verbs: ['get'] },
      { name: 'events', singularName: 'event', namespaced: true, kind: 'Event', verbs: ['list'], shortNames: ['ev'] },
    ],
  },
  '/apis/apps/v1': {
    kind: 'APIResourceList',
    groupVersion: 'apps/v1',
    resources: [
      {
        name: 'deployments',
        singularName: 'deployment',
        namespaced: true,
        kind: 'Deployment',
        verbs: ['list'],
        shortNames: ['deploy'],
        categories: ['all'],
      },
    ],
  },
  '/apis/apps/v1beta1': {
    kind: 'APIResourceList',
    groupVersion: 'apps/v1beta1',
    resources: [
      {
        name: 'deployments',
        singularName: 'deployment',
        namespaced: true,
        kind: 'Deployment',
        verbs: ['list'],
        categories: ['all'],
      },
    ],
  },
};

const aggregated: Record<string, unknown> = {
  '/api': {
    kind: 'APIGroupDiscoveryList',
    items: [
      {
        metadata: {},
        versions: [
          {
            version: 'v1',
            freshness: 'Current',
            resources: [
              {
                resource: 'pods',
                responseKind: { group: '', version: 'v1', kind: 'Pod' },
                scope: 'Namespaced',
                singularResource: 'pod',
                verbs: ['get', 'list'],
                shortNames: ['po'],
                categories: ['all'],
                subresources: [{ subresource: 'status', responseKind: { kind: 'Pod' }, verbs: ['get', 'patch'] }],
              },
            ],
          },
        ],
      },
    ],
  },
  '/apis': {
    kind: 'APIGroupDiscoveryList',
    items: [
      {
        metadata: { name: 'example.com' },
        versions: [
          {
            version: 'v2',
            freshness: 'Stale',
            resources: [{ resource: 'widgets', responseKind: { kind: 'Widget' }, scope: 'Cluster', verbs: ['list'] }],
          },
        ],
      },
    ],
  },
};

function setUp(documents: Record<string, unknown>, options: DiscoveryClientOptions = {}) {
  const api = new MemoryApi();
  const clock = new VirtualClock();
  api.intercept = ({ path }) =>
    path in documents ? jsonResponse(200, documents[path]) : jsonResponse(404, 'not found');
  const rest = new RestClient({ server: 'http://api.test', transport: api, clock });
  return { api, clock, rest, documents, discovery: new DiscoveryClient(rest, options) };
}

describe('DiscoveryClient', () => {
  it('asks group by group where the server cannot aggregate, and keeps going when one group does not answer', async () => {
    const { discovery, api } = setUp(legacy);
    const { groups, failures } = await discovery.snapshot();
    expect(groups.map((group) => `${group.name}:${group.versions.map((version) => version.version)}`)).toEqual([
      ':v1',
      'apps:v1,v1beta1',
      'metrics.k8s.io:',
    ]);
    expect([...failures.keys()]).toEqual(['metrics.k8s.io/v1beta1']);
    expect(api.requests.map((request) => request.path)).toEqual([
      '/api',
      '/apis',
      '/api/v1',
      '/apis/apps/v1',
      '/apis/apps/v1beta1',
      '/apis/metrics.k8s.io/v1beta1',
    ]);
    expect(await discovery.find('pods')).toEqual({
      apiVersion: 'v1',
      group: '',
      version: 'v1',
      kind: 'Pod',
      plural: 'pods',
      scope: 'Namespaced',
      singular: 'pod',
      shortNames: ['po'],
      categories: ['all'],
      verbs: ['get', 'list'],
      subresources: [
        { name: 'status', kind: 'Pod', verbs: ['get', 'patch'] },
        { name: 'eviction', kind: 'Eviction', verbs: ['create'] },
      ],
    });
  });

  it('reads everything from two requests where the server can aggregate', async () => {
    const { discovery, api } = setUp(aggregated);
    const pod = await discovery.find('po');
    expect(pod).toMatchObject({ kind: 'Pod', apiVersion: 'v1', subresources: [{ name: 'status' }] });
    expect(await discovery.find('widget')).toMatchObject({
      apiVersion: 'example.com/v2',
      scope: 'Cluster',
      singular: 'widget',
    });
    expect((await discovery.snapshot()).groups[1]?.versions[0]?.current).toBe(false);
    expect(api.requests.map((request) => request.path)).toEqual(['/api', '/apis']);
    expect(String(api.requests[0]?.headers['accept'])).toContain('as=APIGroupDiscoveryList');
  });

  it('does not ask for the aggregated form when told so', async () => {
    const { discovery, api } = setUp(legacy, { aggregated: false });
    await discovery.snapshot();
    expect(api.requests[0]?.headers['accept']).toBe('application/json');
  });

  it.each([
    ['deploy', 'apps/v1'],
    ['Deployment', 'apps/v1'],
    ['DEPLOYMENTS', 'apps/v1'],
    ['deployments.apps', 'apps/v1'],
    ['deployments.v1beta1.apps', 'apps/v1beta1'],
    ['pods.v1', 'v1'],
    ['pod.v1.', 'v1'],
    ['node', 'v1'],
    ['ev', 'v1'],
  ])('finds %s in %s', async (name, apiVersion) => {
    const { discovery } = setUp(legacy);
    expect((await discovery.find(name)).apiVersion).toBe(apiVersion);
  });

  it('looks once more on the server for a name it does not know, but not right after it looked', async () => {
    const { discovery, api, clock, documents } = setUp(structuredClone(legacy));
    await expect(discovery.find('widgets')).rejects.toSatisfy((error) => isConfigError(error, 'UNKNOWN_RESOURCE'));
    await expect(discovery.find('widgets')).rejects.toThrow(/"widgets".*metrics.k8s.io\/v1beta1/);
    expect(api.requests.filter((request) => request.path === '/api')).toHaveLength(1);
    const version = documents['/apis/apps/v1'] as { resources: unknown[] };
    version.resources.push({ name: 'widgets', kind: 'Widget', namespaced: true, verbs: [] });
    await clock.advance(5000);
    expect((await discovery.find('widgets')).kind).toBe('Widget');
    expect((await discovery.findKind('apps/v1', 'Widget')).plural).toBe('widgets');
    expect(api.requests.filter((request) => request.path === '/api')).toHaveLength(2);
  });

  it('asks again when the answer is too old or was invalidated, and once for calls at the same time', async () => {
    const { discovery, api, clock } = setUp(aggregated, { ttlMs: 60_000 });
    await Promise.all([discovery.snapshot(), discovery.snapshot(), discovery.resources()]);
    await clock.advance(59_999);
    await discovery.snapshot();
    expect(api.requests).toHaveLength(2);
    await clock.advance(1);
    await discovery.snapshot();
    expect(api.requests).toHaveLength(4);
    discovery.invalidate();
    await discovery.snapshot();
    expect(api.requests).toHaveLength(6);
  });

  it('names the preferred resources of a category once each', async () => {
    const { discovery } = setUp(legacy);
    expect((await discovery.category('all')).map((resource) => resource.apiVersion)).toEqual(['v1', 'apps/v1']);
  });

  it('rejects when the server refuses the roots, and tries again at the next call', async () => {
    const { discovery, api, documents } = setUp(aggregated);
    api.intercept = () => jsonResponse(403, { kind: 'Status', apiVersion: 'v1', reason: 'Forbidden', code: 403 });
    await expect(discovery.snapshot()).rejects.toThrow('Forbidden');
    api.intercept = ({ path }) => jsonResponse(200, documents[path]);
    expect((await discovery.snapshot()).groups).toHaveLength(2);
  });

  it('ends one caller’s wait by its signal and goes on for the others', async () => {
    const { discovery, api, documents } = setUp(aggregated);
    let answer: () => void = () => {};
    const gate = new Promise<void>((resolve) => {
      answer = resolve;
    });
    api.intercept = async ({ path }) => {
      await gate;
      return jsonResponse(200, documents[path]);
    };
    const abort = new AbortController();
    const given = discovery.snapshot({ signal: abort.signal });
    const other = discovery.snapshot();
    await settle();
    abort.abort(new Error('enough'));
    await expect(given).rejects.toThrow('enough');
    answer();
    expect((await other).groups).toHaveLength(2);
  });
});

describe('KubeClient', () => {
  it('makes clients by definition, by name and by object', async () => {
    const { rest, documents, api } = setUp(legacy);
    const client = new KubeClient(rest, { fieldManager: 'me' });
    expect((await client.discovery.find('po')).kind).toBe('Pod');
    const deployments = await client.discover('deploy', { namespace: 'shop' });
    const byObject = await client.resourceOf({ apiVersion: 'v1', kind: 'Node', metadata: { name: 'n' } });
    expect(byObject.type.plural).toBe('nodes');
    documents['/apis/apps/v1/namespaces/shop/deployments/web'] = { metadata: { name: 'web' } };
    await deployments.patch('web', { metadata: { labels: { a: 'b' } } });
    expect(api.requests.at(-1)?.query).toEqual({ fieldManager: 'me' });
    documents['/version'] = { major: '1', minor: '30', gitVersion: 'v1.30.3' };
    expect((await client.discovery.serverVersion()).gitVersion).toBe('v1.30.3');
  });
});
