// What people say about this path, and what the server does. docs/folklore.md cites these tests by claim number.
import { VirtualClock } from '@kube-rx/apimachinery';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type FakeApiServer, type FakeApiServerOptions, startFakeApiServer } from '../../src/index.ts';
import { WatchStream } from '../support/watch-stream.ts';

const CONFIGMAPS = '/api/v1/namespaces/default/configmaps';
const SECRETS = '/api/v1/namespaces/default/secrets';
const EVENTS = '/api/v1/namespaces/default/events';

describe('folklore of the watch path', () => {
  let clock: VirtualClock;
  let server: FakeApiServer;
  const open = (path: string) => WatchStream.open(server, path);

  async function start(options: FakeApiServerOptions = {}): Promise<void> {
    await server?.destroy();
    clock = new VirtualClock();
    server = await startFakeApiServer({
      listen: false,
      clock,
      random: () => 0.5,
      etcdCompactionIntervalMs: 0,
      ...options,
    });
    await clock.advance(1000);
  }
  beforeEach(() => start());
  afterEach(() => server.destroy());

  async function write(name: string, value = 'v', path = CONFIGMAPS): Promise<string> {
    const exists = (await server.fetch(`${path}/${name}`)).status === 200;
    const body = {
      apiVersion: 'v1',
      metadata: { name },
      ...(path === SECRETS ? { stringData: { value } } : { data: { value } }),
    };
    const response = await server.fetch(exists ? `${path}/${name}` : path, {
      method: exists ? 'PUT' : 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    expect(response.status).toBeLessThan(300);
    return ((await response.json()) as { metadata: { resourceVersion: string } }).metadata.resourceVersion;
  }

  async function writeEvent(name: string): Promise<string> {
    const involvedObject = { kind: 'Pod', namespace: 'default', name: 'p' };
    const response = await server.fetch(EVENTS, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({
        apiVersion: 'v1',
        kind: 'Event',
        metadata: { name, namespace: 'default' },
        involvedObject,
      }),
    });
    expect(response.status).toBe(201);
    return ((await response.json()) as { metadata: { resourceVersion: string } }).metadata.resourceVersion;
  }

  /** Settles the watch cache: a list not older than the last write. */
  const settle = async (rv: string, path = CONFIGMAPS) => void (await server.fetch(`${path}?resourceVersion=${rv}`));

  it('1: a compaction reaches a client as etcd tells it only where no watch cache stands in between', async () => {
    const cached = await write('a');
    const direct = await writeEvent('e1');
    for (let i = 0; i < 3; i++) await writeEvent(`more-${i}`);
    await settle(await write('a', 'w'));
    await server.compact();
    const withCache = await open(`${CONFIGMAPS}?watch=1&resourceVersion=${cached}`);
    await withCache.atLeast(1);
    expect(withCache.lines[0]).toMatch(/^MODIFIED a@/);
    withCache.close();
    const withoutCache = await open(`${EVENTS}?watch=1&resourceVersion=${direct}`);
    await withoutCache.until((stream) => stream.ended);
    expect(withoutCache.lines).toEqual(['ERROR 410 The resourceVersion for the provided watch is too old.']);
  });

  it('2: one resource alone can lose its window, and a restart takes it from all of them', async () => {
    const map = await write('a');
    const secret = await write('s', 'v', SECRETS);
    await settle(await write('a', 'w'));
    await settle(await write('s', 'w', SECRETS), SECRETS);
    server.slideWindow('configmaps');
    const slid = await open(`${CONFIGMAPS}?watch=1&resourceVersion=${map}`);
    await slid.until((stream) => stream.ended);
    expect(slid.lines[0]).toMatch(/^ERROR 410 too old resource version: \d+ \(\d+\)$/);
    const kept = await open(`${SECRETS}?watch=1&resourceVersion=${secret}`);
    await kept.atLeast(1);
    expect(kept.lines[0]).toMatch(/^MODIFIED s@/);
    kept.close();
    await server.restart();
    await clock.advance(1000);
    for (const [path, rv] of [
      [CONFIGMAPS, map],
      [SECRETS, secret],
    ]) {
      const after = await open(`${path}?watch=1&resourceVersion=${rv}`);
      await after.until((stream) => stream.ended);
      expect(after.lines[0]).toMatch(/^ERROR 410 too old resource version/);
    }
  });

  it('3 and 5: a burst does not push events out: the ring doubles while its oldest event is younger than 75 s', async () => {
    const first = await write('a');
    for (let i = 0; i < 250; i++) await write('a', `burst-${i}`);
    await settle(await write('a', 'last'));
    const young = await open(`${CONFIGMAPS}?watch=1&resourceVersion=${first}`);
    await young.atLeast(251);
    young.close();
    await clock.advance(80_000);
    for (let i = 0; i < 300; i++) await write('a', `late-${i}`);
    await settle(await write('a', 'end'));
    const old = await open(`${CONFIGMAPS}?watch=1&resourceVersion=${first}`);
    await old.until((stream) => stream.ended);
    expect(old.lines[0]).toMatch(/^ERROR 410 too old resource version/);
  });

  it('4: a watch that runs, and a cache that is ready, do not notice a compaction', async () => {
    const rv = await write('a');
    await settle(rv);
    const running = await open(`${CONFIGMAPS}?watch=1&resourceVersion=${rv}`);
    await server.compact();
    await write('a', 'after');
    await running.atLeast(1);
    expect(running.lines[0]).toMatch(/^MODIFIED a@/);
    expect(running.ended).toBe(false);
    running.close();
  });

  it('6 and 7: an unset version and 0 both start with the present objects; from-now is an option', async () => {
    await settle(await write('a'));
    for (const query of ['', '&resourceVersion=0']) {
      const stream = await open(`${CONFIGMAPS}?watch=1${query}&fieldSelector=metadata.name%3Da`);
      await stream.atLeast(1);
      expect(stream.lines[0]).toMatch(/^ADDED a@/);
      stream.close();
    }
    await start({ emptyResourceVersionWatch: 'from-now' });
    await settle(await write('b'));
    const fromNow = await open(`${CONFIGMAPS}?watch=1`);
    await write('c');
    await fromNow.atLeast(1);
    expect(fromNow.lines[0]).toMatch(/^ADDED c@/);
    fromNow.close();
  });

  it('9: without timeoutSeconds a watch lives between one and two times the minimum, a given value is taken as it is', async () => {
    const drawn = await open(`${CONFIGMAPS}?watch=1&resourceVersion=0`);
    const given = await open(`${CONFIGMAPS}?watch=1&resourceVersion=0&timeoutSeconds=7`);
    await clock.advance(6_900);
    expect(given.ended).toBe(false);
    await clock.advance(200);
    await given.until((stream) => stream.ended);
    // random is 0.5 here: 1800 s * 1.5.
    await clock.advance(2_690_000);
    expect(drawn.ended).toBe(false);
    await clock.advance(10_000);
    await drawn.until((stream) => stream.ended);
  });

  it('10 and 11: the request timeout does not end a watch, and its own end is silent', async () => {
    await start({ requestTimeoutMs: 5_000 });
    const stream = await open(`${CONFIGMAPS}?watch=1&resourceVersion=0&timeoutSeconds=600`);
    await clock.advance(599_000);
    expect(stream.ended).toBe(false);
    await clock.advance(2_000);
    await stream.until(({ ended }) => ended);
    expect(stream.events.filter(({ type }) => type === 'ERROR')).toEqual([]);
  });

  it('12: bookmarks are opt-in, come about every minute and only when there is progress to tell', async () => {
    const rv = await write('a');
    await settle(rv);
    const asked = await open(
      `${CONFIGMAPS}?watch=1&resourceVersion=${rv}&allowWatchBookmarks=true&labelSelector=x%3Dy`,
    );
    const silent = await open(`${CONFIGMAPS}?watch=1&resourceVersion=${rv}&labelSelector=x%3Dy`);
    const later = await write('a', 'outside the selector');
    await settle(later);
    await clock.advance(55_000);
    expect(asked.events).toEqual([]);
    await clock.advance(10_000);
    await asked.atLeast(1);
    expect(asked.events[0]!.type).toBe('BOOKMARK');
    expect(Number(asked.events[0]!.object.metadata!.resourceVersion)).toBeGreaterThanOrEqual(Number(later));
    expect(silent.events).toEqual([]);
    asked.close();
    silent.close();
  });

  it('13: a watch that asks for no bookmarks is not ended for it', async () => {
    const stream = await open(`${CONFIGMAPS}?watch=1&resourceVersion=0&timeoutSeconds=3000`);
    await settle(await write('a'));
    await clock.advance(2_900_000);
    expect(stream.ended).toBe(false);
    stream.close();
  });

  it('14: while its cache is being filled a list at 0 is answered by storage and a watch waits', async () => {
    const rv = await write('a');
    await settle(rv);
    await server.restart();
    const list = await server.fetch(`${CONFIGMAPS}?resourceVersion=0`);
    expect(list.status).toBe(200);
    const waiting = open(`${CONFIGMAPS}?watch=1&resourceVersion=0&fieldSelector=metadata.name%3Da`);
    await clock.advance(2_000);
    const stream = await waiting;
    await stream.atLeast(1);
    expect(stream.lines[0]).toBe(`ADDED a@${rv}`);
    stream.close();
  });

  it('17: the gate WatchList is off, and asking for initial events is refused', async () => {
    const query = 'watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true';
    const refused = await server.fetch(`${CONFIGMAPS}?${query}`);
    expect(refused.status).toBe(422);
    expect(((await refused.json()) as { message: string }).message).toContain(
      'sendInitialEvents is forbidden for watch unless the WatchList feature gate is enabled',
    );
    await start({ featureGates: { WatchList: true, ConsistentListFromCache: true } });
    await settle(await write('a'));
    const streamed = await open(`${CONFIGMAPS}?${query}&fieldSelector=metadata.name%3Da`);
    await clock.advance(3_000);
    await streamed.atLeast(2);
    expect(streamed.lines[0]).toMatch(/^ADDED a@/);
    expect(streamed.events.at(-1)!.object.metadata!.annotations).toEqual({ 'k8s.io/initial-events-end': 'true' });
    streamed.close();
  });
});
