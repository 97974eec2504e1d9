// Public reports about lists and watches of servers as inputs for ours; the names are those of the reports.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { settle, VirtualClock } from '@kube-rx/apimachinery';
import { drain, lineOf } from '@kube-rx/contract/suites/storage-fixture';
import { afterEach, describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { prefixEnd } from '../../src/etcd/client.ts';
import { EmbeddedEtcd } from '../../src/etcd/embedded/embedded-etcd.ts';
import { type FakeApiServerOptions, startFakeApiServer } from '../../src/index.ts';
import { ApiCalls } from '../support/api-calls.ts';
import { CacherFixture } from '../support/cacher-fixture.ts';
import { configMap, makeNamespace, open, send } from '../support/client.ts';

const MAPS = '/api/v1/namespaces/default/configmaps';
const SECRETS = '/api/v1/namespaces/default/secrets';
const EVENTS = '/api/v1/namespaces/default/events';
const STREAM = 'sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true';

describe('reports about lists and watches', () => {
  let api: ApiCalls;
  afterEach(() => api?.server.destroy());
  const start = async (options: FakeApiServerOptions = {}): Promise<void> => {
    api = await ApiCalls.start(options);
  };

  it('S-02 kubernetes#104171: a watch of events from a compacted version is told so', async () => {
    await start();
    const event = { involvedObject: { kind: 'Pod', namespace: 'default', name: 'p' } };
    const first = await api.make(EVENTS, 'e0', event);
    for (let at = 1; at < 4; at++) await api.make(EVENTS, `e${at}`, event);
    await api.server.compact();
    const watch = await api.watch(EVENTS, `resourceVersion=${first}`);
    await watch.until(({ ended }) => ended);
    expect([watch.status, watch.lines]).toEqual([
      200,
      ['ERROR 410 The resourceVersion for the provided watch is too old.'],
    ]);
  });

  it('S-03 kubernetes#49956: an empty window begins at the version of the list', async () => {
    await start();
    await api.make(MAPS, 'a');
    await api.server.restart();
    await api.clock.advance(1000);
    const listed = Number((await api.get(`${MAPS}?resourceVersion=0`)).body.metadata.resourceVersion);
    const before = await api.watch(MAPS, `resourceVersion=${listed - 1}`);
    await before.until(({ ended }) => ended);
    expect(before.lines).toEqual([`ERROR 410 too old resource version: ${listed - 1} (${listed})`]);
    const at = await api.watch(MAPS, `resourceVersion=${listed}`);
    const next = await api.make(MAPS, 'b');
    await at.atLeast(1);
    expect(at.lines).toEqual([`ADDED b@${next}`]);
    at.close();
  });

  it('S-04 kubernetes#58545: a deletion carries its own version, an exit from a selector that of the change', async () => {
    await start();
    for (const name of ['a', 'b']) await api.make(MAPS, name);
    const version = await api.make(SECRETS, 'x');
    const watch = await api.watch(MAPS, `resourceVersion=${version}`);
    await api.call('DELETE', `${MAPS}/a`);
    await watch.atLeast(1);
    expect(watch.lines).toEqual([`DELETED a@${version + 1}`]);
    await api.change(`${MAPS}/b`, { metadata: { labels: { app: 'x' } }, data: { state: 'selected' } });
    const selected = await api.watch(MAPS, `resourceVersion=${version + 2}&labelSelector=app%3Dx`);
    const left = await api.change(`${MAPS}/b`, { metadata: { labels: { app: null } }, data: { state: 'gone' } });
    await selected.atLeast(1);
    expect(selected.lines).toEqual([`DELETED b@${left}`]);
    expect(selected.events[0]!.object).toMatchObject({
      data: { state: 'selected' },
      metadata: { labels: { app: 'x' } },
    });
    watch.close();
    selected.close();
  });

  it.each([0, 3])(
    'S-06 kubernetes#122805: a streaming list of %d objects without a version ends at once',
    async (count) => {
      await start({ profile: 'v1.37' });
      for (let at = 0; at < count; at++) await api.make(SECRETS, `s${at}`);
      const now = await api.revision();
      const watch = await api.watch(SECRETS, STREAM);
      await api.clock.advance(1000);
      await watch.atLeast(count + 1);
      expect(watch.events.map(({ type }) => type)).toEqual([
        ...Array.from({ length: count }, () => 'ADDED'),
        'BOOKMARK',
      ]);
      const { metadata } = watch.events.at(-1)!.object;
      expect(metadata?.annotations).toEqual({ 'k8s.io/initial-events-end': 'true' });
      expect(Number(metadata?.resourceVersion)).toBeGreaterThanOrEqual(now);
      watch.close();
    },
  );

  it('S-07 kubernetes#129408: the end mark is of the watched type and holds nothing else; 1.30 answers 422', async () => {
    await start({ profile: 'v1.37' });
    const watch = await api.watch(SECRETS, STREAM);
    await api.clock.advance(1000);
    await watch.atLeast(1);
    expect(watch.events[0]).toEqual({
      type: 'BOOKMARK',
      object: {
        kind: 'Secret',
        apiVersion: 'v1',
        metadata: {
          resourceVersion: expect.stringMatching(/^\d+$/),
          annotations: { 'k8s.io/initial-events-end': 'true' },
        },
      },
    });
    watch.close();
    await api.server.destroy();
    await start();
    expect(await api.get(`${SECRETS}?watch=1&${STREAM}`)).toMatchObject({ code: 422, body: { reason: 'Invalid' } });
  });

  it('S-09 kubernetes#95145: versions of lists and bookmarks are of the whole store, and outlive the process', async () => {
    await start();
    for (const name of ['a', 'b', 'c']) await api.make(MAPS, name);
    const own = await api.revision();
    for (let at = 0; at < 50; at++) await api.make(SECRETS, `s${at}`);
    expect(await api.revision(MAPS)).toBe(own + 50);
    const watch = await api.watch(MAPS, `resourceVersion=${own}&allowWatchBookmarks=true`);
    // Etcd tells idle watches how far it is every ten minutes; bookmarks come once a minute.
    await api.clock.advance(660_000);
    await watch.atLeast(1);
    expect(watch.lines.at(-1)).toBe(`BOOKMARK @${own + 50}`);
    watch.close();
    await api.server.restart();
    await api.clock.advance(1000);
    const resumed = await api.watch(MAPS, `resourceVersion=${own + 50}`);
    const next = await api.make(MAPS, 'd');
    await resumed.atLeast(1);
    expect(resumed.lines).toEqual([`ADDED d@${next}`]);
    resumed.close();
  });

  it('S-10 kubernetes#38705: a version of the future is waited for, then said to be too large', async () => {
    await start();
    const now = await api.revision();
    for (const path of [MAPS, `${MAPS}/a`]) {
      const late = api.get(`${path}?resourceVersion=${now + 1000}`);
      let settled = false;
      void late.then(() => {
        settled = true;
      });
      await api.clock.advance(2999);
      expect(settled).toBe(false);
      await api.clock.advance(1);
      const { code, body } = await late;
      expect([code, body.reason, body.details]).toEqual([
        504,
        'Timeout',
        {
          causes: [{ reason: 'ResourceVersionTooLarge', message: 'Too large resource version' }],
          retryAfterSeconds: 1,
        },
      ]);
      expect(body.message).toMatch(new RegExp(`^Timeout: Too large resource version: ${now + 1000}, current: \\d+$`));
    }
    const inTime = api.get(`${MAPS}?resourceVersion=${now + 1}`);
    await api.clock.advance(2000);
    await api.make(MAPS, 'a');
    expect(await inTime).toMatchObject({ code: 200, body: { items: [{ metadata: { name: 'a' } }] } });
  });

  it('S-12 kubernetes#96182: a limit is ignored at version 0 and honoured without one', async () => {
    await start();
    for (const name of ['a', 'b', 'c']) await api.make(SECRETS, name);
    const any = (await api.get(`${SECRETS}?limit=2&resourceVersion=0`)).body;
    expect([any.items.length, Object.keys(any.metadata)]).toEqual([3, ['resourceVersion']]);
    const newest = (await api.get(`${SECRETS}?limit=2`)).body;
    expect([newest.items.length, newest.metadata.remainingItemCount]).toEqual([2, 1]);
    expect(newest.metadata.continue).not.toBe('');
  });

  it('S-13 kubernetes#66981: an expired token is answered with one that goes on at the newest version', async () => {
    await start();
    for (const name of ['a', 'b', 'c', 'd', 'e', 'f']) await api.make(SECRETS, name);
    const first = (await api.get(`${SECRETS}?limit=2`)).body;
    await api.make(SECRETS, 'cc');
    await api.server.compact();
    const second = (token: string) => api.get(`${SECRETS}?limit=2&continue=${encodeURIComponent(token)}`);
    const expired = await second(first.metadata.continue);
    expect(expired).toMatchObject({ code: 410, body: { reason: 'Expired' } });
    const { body } = await second(expired.body.metadata.continue);
    expect(body.items.map((item: { metadata: { name: string } }) => item.metadata.name)).toEqual(['c', 'cc']);
    expect(Number(body.metadata.resourceVersion)).toBe(await api.revision());
    expect(await second('nonsense')).toMatchObject({ code: 400, body: { reason: 'BadRequest' } });
  });

  it('S-15 kine@60bd963: the version of a list is that of the store, not of its newest item', async () => {
    await start();
    const made = await api.make(MAPS, 'a');
    for (let at = 0; at < 4; at++) await api.make(SECRETS, `s${at}`);
    const { body } = await api.get(MAPS);
    expect([body.metadata.resourceVersion, body.items[0].metadata.resourceVersion]).toEqual([`${made + 4}`, `${made}`]);
  });

  it('S-18 kine@fbdb75f: names are taken by the letter', async () => {
    await start();
    const ROLES = '/apis/rbac.authorization.k8s.io/v1/clusterroles';
    const names = ['a_b', 'aXb', 'a', 'a*b', 'ab'];
    const now = await api.revision();
    for (const name of names) await api.make(ROLES, name, { rules: [] });
    for (const name of names) {
      const { body } = await api.get(`${ROLES}/${encodeURIComponent(name)}`);
      expect(body.metadata?.name ?? body.message).toBe(name);
      const selector = encodeURIComponent(`metadata.name=${name}`);
      const listed = (await api.get(`${ROLES}?fieldSelector=${selector}`)).body.items;
      expect(listed.map((item: { metadata: { name: string } }) => item.metadata.name)).toEqual([name]);
    }
    expect(await api.get(`${ROLES}/a_`)).toMatchObject({ code: 404 });
    const watch = await api.watch(ROLES, `fieldSelector=metadata.name%3Da_b&resourceVersion=${now}`);
    await watch.atLeast(1);
    await settle();
    expect(watch.lines).toEqual([`ADDED a_b@${now + 1}`]);
    watch.close();
  });

  it.each([
    ['-1', 500],
    ['abc', 500],
    ['1.5', 500],
    ['99999999999999999999', 500],
    ['007', 200],
  ])('S-19 kine@2fbb4bf: the version %s is answered with %d', async (version, code) => {
    await start();
    await api.make(MAPS, 'a');
    for (const query of [`resourceVersion=${version}`, `resourceVersion=${version}&watch=1&timeoutSeconds=1`]) {
      const answer = api.server.fetch(`${MAPS}?${query}`);
      await api.clock.advance(2000);
      const response = await answer;
      // Of the events of a watch only the first matters here.
      const body = JSON.parse((await response.text()).split('\n')[0]!);
      expect(response.status).toBe(code);
      if (code !== 200) expect([body.kind, body.reason ?? '']).toEqual(['Status', '']);
    }
  });

  it('S-22 kubernetes#88508: what happens between a list and its watch is told, in order', async () => {
    await start();
    for (const name of ['y', 'z']) await api.make(SECRETS, name);
    const listed = (await api.get(SECRETS)).body.metadata.resourceVersion;
    const x = await api.make(SECRETS, 'x');
    await api.change(`${SECRETS}/y`, { metadata: { labels: { a: 'b' } } });
    await api.call('DELETE', `${SECRETS}/z`);
    const watch = await api.watch(SECRETS, `resourceVersion=${listed}`);
    await watch.atLeast(3);
    expect(watch.lines).toEqual([`ADDED x@${x}`, `MODIFIED y@${x + 1}`, `DELETED z@${x + 2}`]);
    watch.close();
  });

  it('S-24 kubernetes#6513: a watch ends cleanly at its own timeout, else between once and twice the minimum', async () => {
    for (const [random, least] of [
      [0, 1800],
      [0.999_999, 3599],
    ] as const) {
      await start({ random: () => random });
      const given = await api.watch(MAPS, 'resourceVersion=0&timeoutSeconds=3');
      const drawn = await api.watch(MAPS, 'resourceVersion=0');
      await api.clock.advance(2999);
      expect(given.ended).toBe(false);
      await api.clock.advance(1);
      await given.until(({ ended }) => ended);
      expect(given.events.filter(({ type }) => type === 'ERROR')).toEqual([]);
      await api.clock.advance((least - 4) * 1000);
      expect(drawn.ended).toBe(false);
      await api.clock.advance(2000);
      await drawn.until(({ ended }) => ended);
      await api.server.destroy();
    }
  });

  it('S-31 kubernetes#124642: a watch waits for a cache that is being filled, from 1.31 on it is asked to come back', async () => {
    await start();
    const version = await api.make(MAPS, 'a');
    await api.server.restart();
    api.server.reinitialize('configmaps');
    const waiting = api.watch(MAPS, `resourceVersion=${version}`);
    let opened = false;
    void waiting.then(() => {
      opened = true;
    });
    await settle();
    expect(opened).toBe(false);
    await api.clock.advance(2000);
    (await waiting).close();
    await api.server.destroy();
    await start({ profile: 'v1.37' });
    await api.make(MAPS, 'a');
    api.server.reinitialize('configmaps');
    for (const query of ['watch=1&resourceVersion=0', 'resourceVersion=1']) {
      const refused = await api.get(`${MAPS}?${query}`);
      expect([refused.code, refused.headers.get('retry-after')]).toEqual([429, '1']);
      expect(refused.body).toMatchObject({ reason: 'TooManyRequests', message: 'storage is (re)initializing' });
    }
  });
});

describe('reports about etcd', () => {
  const put = (etcd: EmbeddedEtcd, key: string, value = 'v') =>
    etcd.txn({ compare: [], success: [{ op: 'put', key, value: Buffer.from(value) }], failure: [] });
  const watched = (etcd: EmbeddedEtcd, startRevision: number) => {
    const seen: string[] = [];
    const watch = etcd.watch(
      { key: '/', rangeEnd: prefixEnd('/'), startRevision, prevKv: true },
      {
        events: (events) => void seen.push(...events.map(({ type, kv }) => `${type} ${kv.key} ${kv.modRevision}`)),
        ended: (error) => void seen.push(`ended ${(error as { code?: string } | undefined)?.code}`),
      },
    );
    return { seen, watch };
  };

  it('S-20 etcd#18089: a deletion at the revision of a compaction is still told, also after a restart', async () => {
    const dataDir = mkdtempSync(join(tmpdir(), 'kube-rx-s20-'));
    try {
      let etcd = new EmbeddedEtcd({ clock: new VirtualClock(), dataDir });
      await put(etcd, '/k');
      await etcd.txn({ compare: [], success: [{ op: 'delete', key: '/k' }], failure: [] });
      await etcd.compact(3);
      for (let round = 0; round < 2; round++) {
        const [from, before] = [watched(etcd, 3), watched(etcd, 2)];
        await settle();
        expect(from.seen).toEqual(['delete /k 3']);
        expect(before.seen).toEqual(['ended Compacted']);
        from.watch.cancel();
        await etcd.close();
        etcd = new EmbeddedEtcd({ clock: new VirtualClock(), dataDir });
      }
      await etcd.close();
    } finally {
      rmSync(dataDir, { recursive: true });
    }
  });

  it('S-21 etcd#17529: a watcher that lags behind a compaction is cancelled, not led over a gap', async () => {
    const etcd = new EmbeddedEtcd({ clock: new VirtualClock() });
    const { seen, watch } = watched(etcd, 2);
    await put(etcd, '/k', 'first');
    await settle();
    watch.pause();
    for (let at = 0; at < 10_000; at++) await put(etcd, '/k', String(at));
    await etcd.compact(9000);
    watch.resume();
    await settle();
    expect(seen).toEqual(['put /k 2', 'ended Compacted']);
    await etcd.close();
  });
});

describe('reports about slow and quiet clients', () => {
  it('S-23 kubernetes#125123: who does not read is cut off without a gap, holds nobody up, and can go on from there', async () => {
    const f = await CacherFixture.ready();
    await f.clock.advance(5000);
    const stuck = await f.watch({ resourceVersion: '1' });
    const good = await f.watch({ resourceVersion: '1' });
    const got: number[] = [];
    stuck.onReadable(() => {
      while (got.length < 5) {
        const event = stuck.next();
        if (event === undefined) return;
        got.push(Number(lineOf(event).split(' ')[2]));
      }
    });
    let last = 0;
    let slowest = 0;
    good.onReadable(() => {
      for (const line of drain(good)) last = Number(line.split(' ')[2]);
    });
    for (let at = 0; at < 1000; at++) {
      const before = f.clock.now();
      await f.create(`x/${at}`);
      while (last < at + 2) await f.clock.advance(10);
      slowest = Math.max(slowest, f.clock.now() - before);
    }
    expect(slowest).toBeLessThanOrEqual(100);
    expect(good.done).toBe(false);
    expect([stuck.done, stuck.next(), got]).toEqual([true, undefined, [2, 3, 4, 5, 6]]);
    const resumed = await f.watch({ resourceVersion: String(got.at(-1)) });
    const rest: string[] = [];
    resumed.onReadable(() => rest.push(...drain(resumed)));
    rest.push(...drain(resumed));
    await settle();
    expect(rest.map((line) => Number(line.split(' ')[2]))).toEqual(
      Array.from({ length: 1000 - got.length }, (_, at) => got.length + at + 2),
    );
    await f.close();
  });

  it('S-24 fabric8#3177: a watch over WebSocket ends at its timeout although events flow', async () => {
    await using server = await startFakeApiServer({ insecure: true });
    await makeNamespace(server);
    const path = '/api/v1/namespaces/test/configmaps';
    const socket = new WebSocket(`${server.url.replace('http', 'ws')}${path}?watch=1&timeoutSeconds=1`, {
      headers: { authorization: `Bearer ${server.token}` },
      origin: server.url,
    });
    let messages = 0;
    let closed: number | undefined;
    socket.on('message', () => void messages++);
    const end = new Promise<void>((resolve) =>
      socket.on('close', (code) => {
        closed = code;
        resolve();
      }),
    );
    await new Promise((resolve) => socket.once('open', resolve));
    for (let at = 0; closed === undefined && at < 2000; at++)
      await send(server, path, { method: 'POST', body: configMap(`m${at}`) });
    await end;
    expect(messages).toBeGreaterThan(10);
    expect(closed).toBe(1000);
  });

  it('S-25 kubebuilder-declarative-pattern#314: the head of a watch is sent before there is anything to tell', async () => {
    await using server = await startFakeApiServer({ insecure: true });
    await makeNamespace(server);
    const path = '/api/v1/namespaces/test/configmaps';
    const { body: list } = { body: JSON.parse((await send(server, path)).text) };
    const watch = await open(server, `${path}?watch=1&resourceVersion=${list.metadata.resourceVersion}`);
    expect([watch.status, watch.headers['transfer-encoding']]).toEqual([200, 'chunked']);
    watch.body.destroy();
  });
});
