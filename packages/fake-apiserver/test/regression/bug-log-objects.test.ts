// Public reports about objects, their names, their end and their owners as inputs for our server; the names are those of the reports.
import { settle } from '@kube-rx/apimachinery';
import { afterEach, describe, expect, it } from 'vitest';
import type { FakeApiServerOptions } from '../../src/index.ts';
import { ApiCalls, type Json } from '../support/api-calls.ts';
import { crdOf, eventually } from '../support/custom-fixture.ts';
import { seeded } from '../support/registry-fixture.ts';

const MAPS = '/api/v1/namespaces/default/configmaps';
const PODS = '/api/v1/namespaces/default/pods';
const CRDS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
const WIDGETS = '/apis/example.test/v1/namespaces/default/widgets';
const APPLY = 'application/apply-patch+yaml';

const pod = (nodeName?: string): object => ({
  spec: { ...(nodeName === undefined ? {} : { nodeName }), containers: [{ name: 'c', image: 'i' }] },
});
const names = (list: Json): string[] => list.items.map((item: Json) => item.metadata.name);

describe('reports about objects', () => {
  let api: ApiCalls;
  afterEach(() => api.server.destroy());
  const start = async (options: FakeApiServerOptions = {}): Promise<void> => {
    api = await ApiCalls.start({ random: seeded(7), ...options });
  };

  it('S-26 client-go#439: generated names are distinct, and a name is required', async () => {
    await start();
    const made = [];
    for (let at = 0; at < 50; at++)
      made.push((await api.post(MAPS, { metadata: { generateName: 'p-' } })).body.metadata.name);
    expect(new Set(made).size).toBe(50);
    for (const name of made) expect(name).toMatch(/^p-[bcdfghjklmnpqrstvwxz2456789]{5}$/);
    const { code, body } = await api.post(MAPS, { metadata: {} });
    expect([code, body.details.causes]).toEqual([
      422,
      [
        {
          reason: 'FieldValueRequired',
          message: 'Required value: name or generateName is required',
          field: 'metadata.name',
        },
      ],
    ]);
  });

  it.each([
    ['1.30', {}, 1, 409],
    ['1.30 with the gate', { featureGates: { RetryGenerateName: true } }, 7, 201],
    ['1.37', { profile: 'v1.37' }, 7, 201],
    ['1.37', { profile: 'v1.37' }, 8, 409],
  ] as [string, FakeApiServerOptions, number, number][])(
    'S-26 kubernetes#127900: under %s (%o) a create that meets a taken name %d times ends with %d',
    async (_profile, options, collisions, code) => {
      // A uid and a name take 36 numbers; the first object draws its own.
      const vary = seeded(7);
      let left = Number.POSITIVE_INFINITY;
      await start({ ...options, random: () => (left-- > 0 ? 0.5 : vary()) });
      const create = () => api.post(MAPS, { metadata: { generateName: 'p-' } });
      const first = await create();
      expect(first.body.metadata.name).toBe('p-rrrrr');
      left = 36 * collisions + 31;
      const before = left;
      const second = await create();
      expect(second.code).toBe(code);
      if (code === 409) expect(second.body).toMatchObject({ reason: 'AlreadyExists' });
      else expect(second.body.metadata.name).not.toBe('p-rrrrr');
      expect(left).toBeLessThan(before);
    },
  );

  describe('S-29 controller-runtime#2359', () => {
    it('(a) a create drops a time of deletion', async () => {
      await start();
      const metadata = { name: 'a', deletionTimestamp: '2020-01-01T00:00:00Z', deletionGracePeriodSeconds: 5 };
      const { code, body } = await api.post(MAPS, { metadata });
      expect([code, body.metadata.deletionTimestamp, body.metadata.deletionGracePeriodSeconds]).toEqual([
        201,
        undefined,
        undefined,
      ]);
    });

    it('(b) an update cannot set one', async () => {
      await start();
      await api.make(MAPS, 'a');
      const { body } = await api.get(`${MAPS}/a`);
      body.metadata.deletionTimestamp = '2020-01-01T00:00:00Z';
      const answer = await api.call('PUT', `${MAPS}/a`, body);
      expect([answer.code, answer.body.details.causes[0].field]).toEqual([422, 'metadata.deletionTimestamp']);
      expect(answer.body.message).toContain('field is immutable');
    });

    it('(c) a delete marks an object with finalizers, which goes with the last of them', async () => {
      await start();
      const version = await api.make(MAPS, 'a', { metadata: { name: 'a', finalizers: ['x.y/z'] } });
      const watch = await api.watch(MAPS, `resourceVersion=${version}`);
      const marked = await api.call('DELETE', `${MAPS}/a`);
      expect([200, 202]).toContain(marked.code);
      expect(marked.body).toMatchObject({ kind: 'ConfigMap', metadata: { deletionTimestamp: expect.any(String) } });
      const last = await api.change(`${MAPS}/a`, { metadata: { finalizers: null } });
      await watch.atLeast(2);
      expect(watch.lines[0]).toBe(`MODIFIED a@${version + 1}`);
      expect(watch.events[1]!.type).toBe('DELETED');
      expect(Number(watch.events[1]!.object.metadata?.resourceVersion)).toBeGreaterThanOrEqual(last);
      watch.close();
    });

    it('(d) a delete without finalizers answers with a Status that names the object', async () => {
      await start();
      await api.make(MAPS, 'a');
      const { uid } = (await api.get(`${MAPS}/a`)).body.metadata;
      expect(await api.call('DELETE', `${MAPS}/a`)).toMatchObject({
        code: 200,
        body: { kind: 'Status', status: 'Success', details: { name: 'a', kind: 'configmaps', uid } },
      });
    });

    it('(e) a wrong precondition is a conflict', async () => {
      await start();
      await api.make(MAPS, 'a');
      for (const preconditions of [{ uid: 'x' }, { resourceVersion: '1' }]) {
        const body = { kind: 'DeleteOptions', apiVersion: 'v1', preconditions };
        expect(await api.call('DELETE', `${MAPS}/a`, body)).toMatchObject({ code: 409, body: { reason: 'Conflict' } });
      }
      expect((await api.get(`${MAPS}/a`)).code).toBe(200);
    });

    it('(f) a pod on a node is marked, and goes with a second delete without grace', async () => {
      await start();
      const version = await api.make(PODS, 'p', pod('n'));
      const watch = await api.watch(PODS, `resourceVersion=${version}`);
      const marked = await api.call('DELETE', `${PODS}/p?gracePeriodSeconds=30`);
      expect(marked.body.metadata).toMatchObject({ deletionGracePeriodSeconds: 30 });
      expect(marked.body.metadata.finalizers).toBeUndefined();
      await api.call('DELETE', `${PODS}/p?gracePeriodSeconds=0`);
      await watch.until(({ events }) => events.at(-1)?.type === 'DELETED');
      expect(watch.events[0]).toMatchObject({
        type: 'MODIFIED',
        object: { metadata: { deletionTimestamp: expect.any(String) } },
      });
      expect((await api.get(`${PODS}/p`)).code).toBe(404);
      watch.close();
    });
  });

  describe('S-32 kubernetes#74105', () => {
    const established = () =>
      eventually(async () => {
        await api.clock.advance(1000);
        const { conditions = [] } = (await api.get(`${CRDS}/widgets.example.test`)).body.status ?? {};
        const isTrue = (type: string) => conditions.some((each: Json) => each.type === type && each.status === 'True');
        return isTrue('Established') ? conditions.map((each: Json) => each.type) : undefined;
      });
    const answered = (path: string, code: number) =>
      eventually(async () => {
        await api.clock.advance(1000);
        const answer = await api.get(path);
        return answer.code === code ? answer : undefined;
      });

    it('a definition that is deleted takes its objects, watches and path along, and can be made anew', async () => {
      await start();
      expect((await api.post(CRDS, crdOf())).code).toBe(201);
      expect(await established()).toEqual(['NamesAccepted', 'Established']);
      await answered(WIDGETS, 200);
      const uid = (await api.get(`${CRDS}/widgets.example.test`)).body.metadata.uid;
      const version = await api.make(WIDGETS, 'a', { apiVersion: 'example.test/v1', kind: 'Widget' });
      await api.make(WIDGETS, 'b', { apiVersion: 'example.test/v1', kind: 'Widget' });
      const opening = api.watch(WIDGETS, `resourceVersion=${version}`);
      await api.clock.advance(2000);
      const watch = await opening;
      await watch.atLeast(1);
      const deleted = await api.call('DELETE', `${CRDS}/widgets.example.test`);
      expect(deleted.code).toBe(200);
      const gone = await answered(WIDGETS, 404);
      expect(gone.body).toBe('404 page not found\n');
      await watch.until(({ ended }) => ended);
      expect(watch.lines.map((line) => line.split('@')[0])).toEqual(['ADDED b', 'DELETED a', 'DELETED b']);
      await answered(`${CRDS}/widgets.example.test`, 404);
      expect((await api.post(CRDS, crdOf())).code).toBe(201);
      await established();
      const empty = await answered(WIDGETS, 200);
      expect(empty.body.items).toEqual([]);
      expect((await api.get(`${CRDS}/widgets.example.test`)).body.metadata.uid).not.toBe(uid);
    });

    it('a definition that changes ends the watches of its objects cleanly', async () => {
      await start();
      await api.post(CRDS, crdOf());
      await established();
      await answered(WIDGETS, 200);
      const opening = api.watch(WIDGETS, 'resourceVersion=0');
      await api.clock.advance(2000);
      const watch = await opening;
      const schema = { openAPIV3Schema: { type: 'object', properties: { spec: { type: 'object' } } } };
      await api.change(`${CRDS}/widgets.example.test`, {
        spec: { versions: [{ name: 'v1', served: true, storage: true, schema }] },
      });
      for (let at = 0; at < 20 && !watch.ended; at++) await api.clock.advance(1000);
      await watch.until(({ ended }) => ended);
      expect(watch.events.filter(({ type }) => type === 'ERROR')).toEqual([]);
    });
  });

  it('S-33 kubernetes#98925: what is missing is said by name, and items of built-in lists carry no kind', async () => {
    await start();
    await api.make(MAPS, 'a');
    const [map] = (await api.get(`${MAPS}?fieldSelector=metadata.name%3Da`)).body.items;
    expect([map.kind, map.apiVersion]).toEqual([undefined, undefined]);
    expect((await api.get(`${MAPS}/a`)).body).toMatchObject({ kind: 'ConfigMap', apiVersion: 'v1' });
    await api.post(CRDS, crdOf());
    const widgets = await eventually(async () => {
      await api.clock.advance(1000);
      await api.post(WIDGETS, { apiVersion: 'example.test/v1', kind: 'Widget', metadata: { name: 'w' } });
      const { code, body } = await api.get(WIDGETS);
      return code === 200 && body.items.length > 0 ? body.items : undefined;
    });
    expect(widgets[0]).toMatchObject({ kind: 'Widget', apiVersion: 'example.test/v1' });
    expect((await api.get(`${MAPS}/none`)).body).toEqual({
      kind: 'Status',
      apiVersion: 'v1',
      metadata: {},
      status: 'Failure',
      message: 'configmaps "none" not found',
      reason: 'NotFound',
      details: { name: 'none', kind: 'configmaps' },
      code: 404,
    });
    expect((await api.get('/apis/apps/v1/namespaces/default/deployments/none')).body.details).toEqual({
      name: 'none',
      group: 'apps',
      kind: 'deployments',
    });
    for (const path of ['/apis/none/v1/things', '/apis/apps/v9/deployments', '/api/v1/things', '/none'])
      expect((await api.get(path)).code).toBe(404);
    expect(names((await api.get(`${MAPS}/`)).body)).toContain('a');
    expect((await api.get('/version')).body).toMatchObject({ major: '1', minor: '30' });
    expect((await api.get('/api')).body).toMatchObject({ kind: 'APIVersions', versions: ['v1'] });
    const groups = (await api.get('/apis')).body.groups.map((each: Json) => each.name);
    expect(groups).toEqual(expect.arrayContaining(['apps', 'batch', 'apiextensions.k8s.io', 'example.test']));
    const aggregated = await api.server.fetch('/apis', {
      headers: { accept: 'application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList,application/json' },
    });
    expect(await aggregated.json()).toMatchObject({ kind: 'APIGroupDiscoveryList' });
  });

  describe('S-34 kubernetes#103816', () => {
    const apply = (name: string, data: object, query: string, more: object = {}) =>
      api.call(
        'PATCH',
        `${MAPS}/${name}?${query}`,
        { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, ...more }, data },
        APPLY,
      );

    it('(a) to (e) an apply creates, refuses managedFields, meets conflicts by field and never by version', async () => {
      await start();
      expect((await apply('a', { k: '1' }, 'fieldManager=a')).code).toBe(201);
      const managed = await apply('a', { k: '1' }, 'fieldManager=a', { managedFields: [{ manager: 'x' }] });
      expect([managed.code, managed.body.message]).toEqual([400, expect.stringContaining('must be nil')]);
      const conflict = await apply('a', { k: '2' }, 'fieldManager=b');
      expect([conflict.code, conflict.body.details.causes]).toEqual([
        409,
        [{ reason: 'FieldManagerConflict', message: expect.stringContaining('conflict with "a"'), field: '.data.k' }],
      ]);
      expect((await apply('a', { k: '2' }, 'fieldManager=b&force=true')).body.data).toEqual({ k: '2' });
      expect((await apply('a', { k: '3' }, 'fieldManager=b')).code).toBe(200);
      await api.change(`${MAPS}/a`, { metadata: { labels: { by: 'others' } } });
      expect((await apply('a', { k: '4' }, 'fieldManager=b')).code).toBe(200);
    });

    it('(f) nothing is created in a namespace that is missing or on its way out', async () => {
      await start();
      const missing = await api.post('/api/v1/namespaces/none/configmaps', { metadata: { name: 'a' } });
      expect([missing.code, missing.body.message]).toEqual([404, 'namespaces "none" not found']);
      await api.make('/api/v1/namespaces', 'going');
      await api.call('DELETE', '/api/v1/namespaces/going');
      const refused = await api.post('/api/v1/namespaces/going/configmaps', { metadata: { name: 'a' } });
      expect([refused.code, refused.body.reason, refused.body.details.causes]).toEqual([
        403,
        'Forbidden',
        [
          {
            reason: 'NamespaceTerminating',
            message: 'namespace going is being terminated',
            field: 'metadata.namespace',
          },
        ],
      ]);
    });

    it.each([
      [true, 404],
      [false, 200],
    ])('(g) a namespace is emptied and goes where somebody does that (%s)', async (namespaceController, code) => {
      await start({ namespaceController });
      await api.make('/api/v1/namespaces', 'going');
      await api.make('/api/v1/namespaces/going/configmaps', 'a');
      const deleted = await api.call('DELETE', '/api/v1/namespaces/going');
      expect(deleted.body).toMatchObject({ kind: 'Namespace', status: { phase: 'Terminating' } });
      let answer = await api.get('/api/v1/namespaces/going');
      for (let at = 0; at < 60 && answer.code !== code; at++) {
        await api.clock.advance(1000);
        answer = await api.get('/api/v1/namespaces/going');
      }
      await api.clock.advance(10_000);
      await settle();
      expect((await api.get('/api/v1/namespaces/going')).code).toBe(code);
      expect((await api.get('/api/v1/namespaces/going/configmaps/a')).code).toBe(code);
    });

    it('(h) an exec is refused at once with a Status', async () => {
      await start();
      for (const [name, node] of [
        ['waiting', undefined],
        ['lost', 'n'],
      ] as const)
        await api.make(PODS, name, pod(node));
      const exec = (name: string) => api.call('POST', `${PODS}/${name}/exec?command=ls`);
      expect(await exec('none')).toMatchObject({ code: 404, body: { message: 'pods "none" not found' } });
      expect(await exec('waiting')).toMatchObject({
        code: 400,
        body: { kind: 'Status', message: 'pod waiting does not have a host assigned' },
      });
      expect(await exec('lost')).toMatchObject({ code: 404, body: { message: 'nodes "n" not found' } });
    });

    it('(i) a body of protobuf is read, and one that cannot be is refused as such', async () => {
      await start();
      const field = (number: number, bytes: Buffer | string): Buffer =>
        Buffer.concat([Buffer.from([(number << 3) | 2, bytes.length]), Buffer.from(bytes)]);
      const type = Buffer.concat([field(1, 'v1'), field(2, 'ConfigMap')]);
      const map = field(1, field(1, 'pb'));
      const post = (bytes: Buffer) =>
        api.server.fetch(MAPS, {
          method: 'POST',
          headers: { 'content-type': 'application/vnd.kubernetes.protobuf' },
          body: Buffer.concat([Buffer.from('k8s\0'), bytes]),
        });
      const made = await post(Buffer.concat([field(1, type), field(2, map)]));
      expect(made.status).toBe(201);
      expect(await made.json()).toMatchObject({ kind: 'ConfigMap', metadata: { name: 'pb' } });
      const broken = await post(Buffer.concat([field(1, type), Buffer.from([0x12, 0x7f, 0x01])]));
      expect([broken.status, ((await broken.json()) as Json).kind]).toEqual([400, 'Status']);
    });
  });

  it('I-48 kubernetes#91966: a Lease of no duration is refused', async () => {
    await start();
    const { code, body } = await api.post('/apis/coordination.k8s.io/v1/namespaces/default/leases', {
      metadata: { name: 'l' },
      spec: { holderIdentity: '', leaseDurationSeconds: 0 },
    });
    expect([code, body.details.causes[0].field]).toEqual([422, 'spec.leaseDurationSeconds']);
  });

  it('I-45 kubernetes-client/python#2228: who loses its label leaves the watch with its last selected content', async () => {
    await start();
    const version = await api.make(MAPS, 'a', { metadata: { name: 'a', labels: { app: 'x' } }, data: { k: '1' } });
    const watch = await api.watch(MAPS, `labelSelector=app%3Dx&resourceVersion=${version}`);
    const left = await api.change(`${MAPS}/a`, { metadata: { labels: null }, data: { k: '2' } });
    await watch.atLeast(1);
    expect(watch.lines).toEqual([`DELETED a@${left}`]);
    expect(watch.events[0]!.object).toMatchObject({ metadata: { labels: { app: 'x' } }, data: { k: '1' } });
    watch.close();
  });

  it('O-04 kubernetes-leader-election: an unknown field of a Lease is dropped with a warning, or refused strictly', async () => {
    await start();
    const LEASES = '/apis/coordination.k8s.io/v1/namespaces/default/leases';
    const lease = (name: string) => ({ metadata: { name }, spec: { holderIdentity: 'a', leaseDurationSec: 15 } });
    const taken = await api.post(LEASES, lease('l'));
    expect([taken.code, taken.body.spec]).toEqual([201, { holderIdentity: 'a' }]);
    const warned = await api.post(`${LEASES}?fieldValidation=Warn`, lease('w'));
    expect([warned.code, warned.headers.get('warning')]).toEqual([
      201,
      expect.stringContaining('unknown field \\"spec.leaseDurationSec\\"'),
    ]);
    const strict = await api.post(`${LEASES}?fieldValidation=Strict`, lease('s'));
    expect([strict.code, strict.body.message]).toEqual([
      400,
      expect.stringContaining('unknown field "spec.leaseDurationSec"'),
    ]);
  });
});
