import type { Status } from '@kube-rx/apimachinery';
import {
  isConflict,
  isNotFound,
  isResourceExpired,
  newResourceExpired,
  settle,
  VirtualClock,
} from '@kube-rx/apimachinery';
import { describe, expect, expectTypeOf, it } from 'vitest';
import type { ConfigMap } from '../../test/support/memory-api.ts';
import { ConfigMaps, MemoryApi } from '../../test/support/memory-api.ts';
import { jsonResponse, MemoryBody } from '../../test/support/memory-body.ts';
import { TransportError } from '../errors.ts';
import type { Live } from '../rest/resource-type.ts';
import { defineResource } from '../rest/resource-type.ts';
import { RestClient } from '../rest/rest-client.ts';
import type { ResourceClientOptions } from './resource-client.ts';
import { ResourceClient } from './resource-client.ts';

const Nodes = defineResource()({ apiVersion: 'v1', kind: 'Node', plural: 'nodes', scope: 'Cluster' });
const ROOT = '/api/v1/namespaces/shop/configmaps';

function setUp(options: ResourceClientOptions = { namespace: 'shop' }) {
  const api = new MemoryApi();
  const clock = new VirtualClock();
  const rest = new RestClient({ server: 'http://api.test/', transport: api, clock });
  const lastRequest = () => {
    const { headers, ...request } = api.requests.at(-1)!;
    return { ...request, contentType: headers['content-type'] };
  };
  return { api, clock, rest, lastRequest, client: new ResourceClient(rest, ConfigMaps, options) };
}

describe('ResourceClient', () => {
  it('creates, reads, replaces and deletes an object', async () => {
    const { client, api, lastRequest } = setUp();
    const created = await client.create({ metadata: { name: 'a' }, data: { x: '1' } });
    expectTypeOf(created).toEqualTypeOf<Live<ConfigMap>>();
    expect(lastRequest()).toMatchObject({ method: 'POST', path: ROOT, body: { kind: 'ConfigMap', apiVersion: 'v1' } });
    expect(created.metadata.uid).toBe('uid-1');
    expect(await client.get('a')).toEqual(created);
    const updated = await client.update({ ...created, data: { x: '2' } });
    expect(updated.data).toEqual({ x: '2' });
    await expect(client.update({ ...created, data: {} })).rejects.toSatisfy(isConflict);
    expect(await client.delete('a')).toMatchObject({ status: 'Success' });
    expect(lastRequest().body).toBeUndefined();
    await expect(client.get('a')).rejects.toSatisfy(isNotFound);
    expect(api.requests.every((request) => request.path.startsWith(ROOT))).toBe(true);
  });

  it('takes the namespace of the object or the reference before its own', async () => {
    const { client, lastRequest } = setUp();
    await client.create({ metadata: { name: 'a', namespace: 'billing' } });
    expect(lastRequest().path).toBe('/api/v1/namespaces/billing/configmaps');
    await client.get({ name: 'a', namespace: 'billing' });
    expect(lastRequest().path).toBe('/api/v1/namespaces/billing/configmaps/a');
    await expect(client.namespace('x').get('a')).rejects.toSatisfy(isNotFound);
    expect(lastRequest().path).toBe('/api/v1/namespaces/x/configmaps/a');
  });

  it('refuses what only a namespace makes clear, and names that would change the path', async () => {
    const { rest } = setUp();
    const everywhere = new ResourceClient(rest, ConfigMaps);
    expect(() => everywhere.get('a')).toThrow(/namespace/);
    expect(() => everywhere.create({ metadata: { name: 'a' } })).toThrow(/namespace/);
    expect(() => everywhere.deleteCollection()).toThrow(/namespace/);
    expect(() => everywhere.namespace('shop').get('../secrets')).toThrow(/path segment/);
    expect(() => everywhere.namespace('shop').update({ metadata: {} })).toThrow(/metadata.name/);
    expect((await everywhere.list()).items).toEqual([]);
  });

  it('leaves the namespace out for a resource of the cluster', async () => {
    const { rest, lastRequest } = setUp();
    const nodes = new ResourceClient(rest, Nodes, { namespace: 'shop' });
    await nodes.create({ metadata: { name: 'n' } });
    expect(lastRequest().path).toBe('/api/v1/nodes');
    await nodes.get('n');
    expect(lastRequest().path).toBe('/api/v1/nodes/n');
  });

  it('sends each kind of patch under its media type, on the object and on its subresources', async () => {
    const { client, api, lastRequest } = setUp({ namespace: 'shop', fieldManager: 'me' });
    api.put(ROOT, { metadata: { name: 'a' } });
    await client.patch('a', { data: { x: '1' } });
    expect(lastRequest()).toMatchObject({
      method: 'PATCH',
      path: `${ROOT}/a`,
      contentType: 'application/merge-patch+json',
      query: { fieldManager: 'me' },
      body: { data: { x: '1' } },
    });
    api.intercept = () => jsonResponse(200, {});
    await client.patch('a', [{ op: 'add', path: '/data/y', value: '2' }], { dryRun: ['All'] });
    expect(lastRequest()).toMatchObject({ contentType: 'application/json-patch+json', query: { dryRun: 'All' } });
    await client.patchStatus('a', { metadata: { labels: null } }, { type: 'strategic' });
    expect(lastRequest()).toMatchObject({
      path: `${ROOT}/a/status`,
      contentType: 'application/strategic-merge-patch+json',
      body: { metadata: { labels: null } },
    });
    await client.apply({ metadata: { name: 'a' }, data: { z: '3' } }, { force: true });
    expect(lastRequest()).toMatchObject({
      contentType: 'application/apply-patch+yaml',
      query: { fieldManager: 'me', force: 'true' },
      body: { kind: 'ConfigMap', apiVersion: 'v1', data: { z: '3' } },
    });
    await client.scale('a', 3);
    expect(lastRequest()).toMatchObject({ path: `${ROOT}/a/scale`, body: { spec: { replicas: 3 } } });
    await client.updateStatus({ metadata: { name: 'a' } });
    expect(lastRequest()).toMatchObject({ method: 'PUT', path: `${ROOT}/a/status` });
    await client.subresource<Status>('POST', 'a', 'eviction', { kind: 'Eviction' });
    expect(lastRequest()).toMatchObject({ method: 'POST', path: `${ROOT}/a/eviction`, body: { kind: 'Eviction' } });
  });

  it('refuses to apply without a field manager', () => {
    const { client } = setUp();
    expect(() => client.apply({ metadata: { name: 'a' } })).toThrow(/fieldManager/);
  });

  it('sends options of a deletion as its body', async () => {
    const { client, api, lastRequest } = setUp();
    api.put(ROOT, { metadata: { name: 'a' } });
    await client.delete('a', { propagationPolicy: 'Foreground', preconditions: { uid: 'u' } });
    expect(lastRequest().body).toEqual({
      kind: 'DeleteOptions',
      apiVersion: 'v1',
      propagationPolicy: 'Foreground',
      preconditions: { uid: 'u' },
    });
    await client.deleteCollection({ labelSelector: 'a=b', gracePeriodSeconds: 0 });
    expect(lastRequest()).toMatchObject({
      method: 'DELETE',
      path: ROOT,
      query: { labelSelector: 'a=b' },
      body: { gracePeriodSeconds: 0 },
    });
  });

  it('joins the pages of a list, and gives them one by one', async () => {
    const { client, api } = setUp();
    for (let n = 0; n < 5; n++) api.put(ROOT, { metadata: { name: `a${n}` } });
    const list = await client.list({ pageSize: 2, labelSelector: 'x=y' });
    expect(list.items.map((item) => item.metadata.name)).toEqual(['a0', 'a1', 'a2', 'a3', 'a4']);
    expect(list.resourceVersion).toBe('6');
    expect(list.items[0]).toMatchObject({ kind: 'ConfigMap', apiVersion: 'v1' });
    expect(api.requests.map((request) => request.query)).toEqual([
      { limit: '2', labelSelector: 'x=y' },
      { limit: '2', labelSelector: 'x=y', continue: '2' },
      { limit: '2', labelSelector: 'x=y', continue: '4' },
    ]);
    const sizes: number[] = [];
    for await (const page of client.pages({ pageSize: 3 })) sizes.push(page.items.length);
    expect(sizes).toEqual([3, 2]);
  });

  it('lists everything at once when a token expires, but throws it from the page by page form', async () => {
    const { client, api } = setUp();
    for (let n = 0; n < 3; n++) api.put(ROOT, { metadata: { name: `a${n}` } });
    api.intercept = (request) =>
      request.query['continue'] === undefined ? undefined : jsonResponse(410, newResourceExpired('expired').status);
    expect((await client.list({ pageSize: 2 })).items).toHaveLength(3);
    const read = async () => {
      for await (const page of client.pages({ pageSize: 2 })) expect(page.items).toHaveLength(2);
    };
    await expect(read()).rejects.toSatisfy(isResourceExpired);
  });

  it('rejects with the reason of its signal', async () => {
    const { client, api } = setUp();
    const abort = new AbortController();
    api.intercept = (_request, signal) =>
      new Promise((_resolve, reject) => signal?.addEventListener('abort', () => reject(signal.reason)));
    const reading = client.get('a', { signal: abort.signal });
    await settle();
    abort.abort(new Error('enough'));
    await expect(reading).rejects.toThrow('enough');
  });

  it('asks for metadata alone when told so', async () => {
    const { client, api } = setUp({ namespace: 'shop', metadataOnly: true });
    api.put(ROOT, { metadata: { name: 'a' } });
    await client.get('a');
    await client.list();
    expect(api.requests.map((request) => String(request.headers['accept']).split(';')[1])).toEqual([
      'as=PartialObjectMetadata',
      'as=PartialObjectMetadataList',
    ]);
  });
});

describe('ResourceClient.watch', () => {
  it('delivers events until the server ends the stream', async () => {
    const { client, api } = setUp();
    api.put(ROOT, { metadata: { name: 'a' } });
    const seen: string[] = [];
    const watching = (async () => {
      for await (const event of client.watch({ resourceVersion: '1', allowWatchBookmarks: true })) {
        seen.push(`${event.type} ${event.object.metadata.name ?? event.object.metadata.resourceVersion}`);
      }
    })();
    await settle();
    api.put(ROOT, { metadata: { name: 'b' } });
    api.sendToWatches({
      type: 'BOOKMARK',
      object: { kind: 'ConfigMap', apiVersion: 'v1', metadata: { resourceVersion: '9' } },
    });
    api.remove(`${ROOT}/a`);
    await settle();
    api.cutWatches();
    await watching;
    expect(seen).toEqual(['ADDED a', 'ADDED b', 'BOOKMARK 9', 'DELETED a']);
    expect(api.requests[0]?.query).toEqual({ watch: 'true', resourceVersion: '1', allowWatchBookmarks: 'true' });
  });

  it('delivers what came before an ERROR event, then throws its Status', async () => {
    const { client, api } = setUp();
    const iterator = client.watch()[Symbol.asyncIterator]();
    const first = iterator.next();
    await settle();
    api.put(ROOT, { metadata: { name: 'a' } });
    api.sendToWatches({ type: 'ERROR', object: newResourceExpired('too old').status });
    expect((await first).value?.type).toBe('ADDED');
    await expect(iterator.next()).rejects.toSatisfy(isResourceExpired);
    expect(await iterator.next()).toEqual({ done: true, value: undefined });
    expect(api.openWatches).toBe(0);
  });

  it('delivers what is buffered before it says that the connection broke', async () => {
    const { client, api } = setUp();
    const iterator = client.watch()[Symbol.asyncIterator]();
    const first = iterator.next();
    await settle();
    api.put(ROOT, { metadata: { name: 'a' } });
    api.put(ROOT, { metadata: { name: 'b' } });
    await first;
    api.cutWatches(new TransportError('RESET', 'reset by peer'));
    await settle();
    expect((await iterator.next()).value?.type).toBe('ADDED');
    await expect(iterator.next()).rejects.toThrow('reset by peer');
  });

  it('closes the connection when the consumer leaves the loop', async () => {
    const { client, api } = setUp();
    api.put(ROOT, { metadata: { name: 'a' } });
    for await (const event of client.watch()) {
      expect(event.type).toBe('ADDED');
      expect(api.openWatches).toBe(1);
      break;
    }
    expect(api.openWatches).toBe(0);
  });

  it('ends a waiting consumer when another part returns the iterator', async () => {
    const { client, api } = setUp();
    const iterator = client.watch()[Symbol.asyncIterator]();
    const waiting = iterator.next();
    await settle();
    await iterator.return?.();
    expect((await waiting).done).toBe(true);
    expect(api.openWatches).toBe(0);
  });

  it('throws the reason of its signal, before and during the stream, and leaves no listener behind', async () => {
    const { client, api } = setUp();
    const abort = new AbortController();
    const iterator = client.watch({ signal: abort.signal })[Symbol.asyncIterator]();
    const waiting = iterator.next();
    await settle();
    api.put(ROOT, { metadata: { name: 'a' } });
    api.put(ROOT, { metadata: { name: 'b' } });
    await waiting;
    abort.abort(new Error('stop'));
    await expect(iterator.next()).rejects.toThrow('stop');
    expect(api.openWatches).toBe(0);
    const late = client.watch({ signal: abort.signal })[Symbol.asyncIterator]();
    await expect(late.next()).rejects.toThrow('stop');
  });

  it('no longer reads the connection while the consumer is slow, and loses nothing', async () => {
    const { client, api } = setUp();
    const body = new MemoryBody();
    api.intercept = () => ({ status: 200, headers: {}, body });
    const iterator = client.watch({ highWaterMark: 4 })[Symbol.asyncIterator]();
    const first = iterator.next();
    await settle();
    const write = (name: string) =>
      body.write(`${JSON.stringify({ type: 'ADDED', object: { metadata: { name } } })}\n`);
    for (let n = 0; n < 5; n++) write(`a${n}`);
    expect(body.paused).toBe(true);
    for (let n = 5; n < 20; n++) write(`a${n}`);
    const names = [(await first).value?.object.metadata.name];
    await iterator.next().then(({ value }) => names.push(value?.object.metadata.name));
    expect(body.resumes).toBe(0);
    await iterator.next().then(({ value }) => names.push(value?.object.metadata.name));
    expect(body.resumes).toBe(1);
    for (let n = 3; n < 20; n++) names.push((await iterator.next()).value?.object.metadata.name);
    expect(names).toEqual(Array.from({ length: 20 }, (_, n) => `a${n}`));
    await iterator.return?.();
    expect(body.destroyed).toBe(true);
  });

  it('is a cold Observable too: a request a subscriber, error for ERROR, closed by unsubscribing', async () => {
    const { client, api } = setUp();
    const watch$ = client.watch$();
    await settle();
    expect(api.requests).toHaveLength(0);
    const seen: string[] = [];
    const a = watch$.subscribe({ next: (event) => seen.push(event.type), error: () => seen.push('error') });
    const b = watch$.subscribe({ next: (event) => seen.push(event.type), complete: () => seen.push('complete') });
    await settle();
    expect(api.openWatches).toBe(2);
    api.put(ROOT, { metadata: { name: 'a' } });
    await settle();
    a.unsubscribe();
    expect(api.openWatches).toBe(1);
    api.cutWatches();
    await settle();
    expect(seen).toEqual(['ADDED', 'ADDED', 'complete']);
    expect(b.closed).toBe(true);
    const failing: unknown[] = [];
    watch$.subscribe({ error: (error: unknown) => failing.push(error) });
    await settle();
    api.sendToWatches({ type: 'ERROR', object: newResourceExpired('too old').status });
    await settle();
    expect(failing).toHaveLength(1);
    expect(isResourceExpired(failing[0])).toBe(true);
  });
});
