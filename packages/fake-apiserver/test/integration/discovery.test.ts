import { VirtualClock } from '@kube-rx/apimachinery';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type FakeApiServer, startFakeApiServer } from '../../src/index.ts';

let server: FakeApiServer;
beforeAll(async () => {
  server = await startFakeApiServer({ listen: false });
});
afterAll(() => server.close());

const AGGREGATED = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList';
const get = (path: string, headers: Record<string, string> = {}) => server.fetch(path, { headers });

interface GroupList {
  readonly groups: readonly { readonly name: string; readonly preferredVersion: { readonly version: string } }[];
}

describe('discovery', () => {
  it('answers an unchanged document with 304', async () => {
    const first = await get('/apis', { accept: AGGREGATED });
    const etag = first.headers.get('etag')!;
    expect(etag).toMatch(/^"[0-9A-F]{128}"$/);
    expect(first.headers.get('vary')).toBe('Accept');
    await first.text();
    const again = await get('/apis', { accept: AGGREGATED, 'if-none-match': etag });
    expect(again.status).toBe(304);
    expect((await get('/apis', { accept: AGGREGATED, 'if-none-match': '"old"' })).status).toBe(200);
  });

  it('lists groups in the order of the real server, the preferred version first', async () => {
    const { groups } = (await (await get('/apis')).json()) as GroupList;
    expect(groups[0]?.name).toBe('apiregistration.k8s.io');
    const autoscaling = groups.find((group) => group.name === 'autoscaling')!;
    expect(autoscaling.preferredVersion.version).toBe('v2');
  });

  it.each([
    ['/api', 200],
    ['/api/', 200],
    ['/api/v1', 200],
    ['/api/v2', 404],
    ['/apis/apps', 200],
    ['/apis/apps/v1', 200],
    ['/apis/apps/v9', 404],
    ['/apis/none.example', 404],
  ])('answers %s with %s', async (path, status) => {
    const answer = await get(path);
    expect(answer.status).toBe(status);
    await answer.text();
  });

  it('knows groups that are not there from versions that are not there', async () => {
    expect(await (await get('/apis/none.example/v1/things')).text()).toBe('404 page not found\n');
    expect(await (await get('/apis/apps/v9/deployments')).json()).toMatchObject({ kind: 'Status' });
  });
});

describe('health', () => {
  it('lists its checks when asked to, and leaves out what is excluded', async () => {
    const text = await (await get('/readyz?verbose&exclude=etcd&exclude=none')).text();
    expect(text).toMatch(/^\[\+\]ping ok\n/);
    expect(text).toContain('[+]etcd excluded: ok\n');
    expect(text).toContain('warn: some health checks cannot be excluded: no matches for "none"\n');
    expect(text).toMatch(/readyz check passed\n$/);
  });

  it('is for everybody, the rest is not', async () => {
    const anonymous = { authorization: '' };
    expect((await get('/livez', anonymous)).status).toBe(200);
    expect((await get('/version', anonymous)).status).toBe(200);
    expect((await get('/metrics', anonymous)).status).toBe(403);
    expect((await get('/_fake/state', anonymous)).status).toBe(403);
  });
});

describe('control', () => {
  const post = (path: string, body: unknown) => server.fetch(path, { method: 'POST', body: JSON.stringify(body) });

  it('compacts, shows its state and slides windows', async () => {
    const { revision } = (await (await post('/_fake/compact', {})).json()) as { revision: string };
    const state = await (await get('/_fake/state')).json();
    expect(state).toMatchObject({ etcd: { compactRevision: revision }, runningRequests: 1 });
    expect((await post('/_fake/slide', { resource: 'configmaps' })).status).toBe(200);
  });

  it('fills a cache anew, which ends its watches', async () => {
    const clock = new VirtualClock();
    await using own = await startFakeApiServer({ listen: false, clock });
    await clock.advance(1000);
    const watch = await own.fetch('/api/v1/configmaps?watch=1&resourceVersion=0');
    own.reinitialize('configmaps');
    await clock.advance(3000);
    expect(await watch.text()).not.toContain('ERROR');
  });

  it.each([
    ['/_fake/compact', { revision: 'x' }],
    ['/_fake/compact', { revision: '999999999' }],
    ['/_fake/slide', { resource: 'nothings' }],
    ['/_fake/slide', {}],
    ['/_fake/reinitialize', { resource: 'events' }],
    ['/_fake/clock', { advanceMs: 5 }],
    ['/_fake/compact', []],
  ])('refuses %s with %j', async (path, body) => {
    expect((await post(path, body)).status).toBe(400);
  });

  it('wants the right method', async () => {
    expect((await get('/_fake/compact')).status).toBe(405);
    expect((await get('/_fake/nothing')).status).toBe(404);
  });
});

describe('metrics', () => {
  it('count requests by verb, resource and code, and the events of watches', async () => {
    await using counted = await startFakeApiServer({ listen: false });
    await (await counted.fetch('/api/v1/namespaces/default')).text();
    await (await counted.fetch('/api/v1/namespaces/none')).text();
    await (await counted.fetch('/api/v1/namespaces?watch=1&timeoutSeconds=1')).text();
    const text = await (await counted.fetch('/metrics')).text();
    const series = (name: string, ...labels: string[]) =>
      text.split('\n').find((line) => line.startsWith(name) && labels.every((label) => line.includes(label)));
    const requests = (code: string, verb: string) =>
      series('apiserver_request_total', `code="${code}"`, `verb="${verb}"`, 'resource="namespaces"');
    expect(requests('200', 'GET')).toMatch(/ 1$/);
    expect(requests('404', 'GET')).toMatch(/ 1$/);
    expect(requests('0', 'WATCH')).toMatch(/ 1$/);
    expect(series('apiserver_watch_events_total', 'kind="Namespace"')).toMatch(/ [1-9]/);
    expect(series('apiserver_longrunning_requests', 'verb="WATCH"')).toMatch(/ 0$/);
  });
});
