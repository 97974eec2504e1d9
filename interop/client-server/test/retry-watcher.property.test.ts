// A RetryWatcher delivers the history of a resource as it was: no event left out, none twice, none out of order, over any number of
// broken connections, until the server says that the history is gone.
import { isExpiredOrGone, isNotFound } from '@kube-rx/apimachinery';
import { ConfigMaps, retryWatch, SharedInformerFactory } from '@kube-rx/informer';
import fc from 'fast-check';
import { describe, expect } from 'vitest';
import { FaultyTransport } from './support/faulty-transport.ts';
import { advanceUntil, rest, startPair } from './support/pair.ts';
import { property } from './support/property-run.ts';
import { pick, seeded } from './support/random.ts';

/** Random writes to a few objects; resolves with the events they make, told by a watch over a network without faults. */
async function scenario(seed: number, steps: number, slideAt: number): Promise<void> {
  const random = seeded(seed);
  const pair = await startPair({ random: seeded(seed + 1) });
  try {
    await pair.createNamespace('shop');
    const maps = pair.client.resource(ConfigMaps, 'shop');
    const { resourceVersion } = await maps.create({ metadata: { name: 'first' } }).then(({ metadata }) => metadata);
    const history: string[] = [];
    await using factory = new SharedInformerFactory(pair.client, { clock: pair.clock, handlerBuffer: 'unbounded' });
    const informer = factory.informer(ConfigMaps);
    informer.handle((event) => {
      if (event.type === 'synced' || event.object.metadata.name === 'first') return;
      const type = { added: 'ADDED', updated: 'MODIFIED', deleted: 'DELETED' }[event.type];
      history.push(`${type} ${event.object.metadata.name}@${event.object.metadata.resourceVersion}`);
    });
    await advanceUntil(pair.clock, () => informer.hasSynced);

    const expiry = random() < 0.2;
    const faulty = new FaultyTransport({
      inner: pair.transport,
      clock: pair.clock,
      random: seeded(seed + 2),
      expiry,
      unreasonable: true,
      // A cache that is filled anew, and a restart, forget what was before: with them the end may come at any time.
      meanwhile: async () =>
        expiry ? pair.server.reinitialize('configmaps') : void (await pair.server.compact().catch(() => {})),
    });
    const watched = pair.connect({ transport: faulty }).resource(ConfigMaps, 'shop').listerWatcher({ maxRetries: 0 });
    const seen: string[] = [];
    let ended: unknown = 'open';
    const abort = new AbortController();
    const reading = (async () => {
      for await (const event of retryWatch(watched, {
        resourceVersion,
        clock: pair.clock,
        signal: abort.signal,
        highWaterMark: 4,
      })) {
        seen.push(`${event.type} ${event.object.metadata?.name}@${event.object.metadata?.resourceVersion}`);
        if (random() < 0.2) await rest(3);
      }
    })().then(
      () => {
        ended = undefined;
      },
      (error: unknown) => {
        ended = error;
      },
    );
    for (let step = 0; step < steps; step++) {
      const name = pick(random, ['a', 'b', 'c']);
      if (random() < 0.3) await maps.delete(name).catch(() => {});
      else {
        await maps.patch(name, { data: { step: String(step) } }).catch((error: unknown) => {
          if (!isNotFound(error)) throw error;
          return maps.create({ metadata: { name } });
        });
      }
      if (step === slideAt) pair.server.slideWindow('configmaps');
      await pair.clock.advance(Math.floor(random() * 2000));
      await rest(3);
    }
    faulty.active = false;
    await advanceUntil(pair.clock, () => ended !== 'open' || seen.length >= history.length, {
      stepMs: 1000,
      maxMs: 1_200_000,
    });
    if (ended === 'open') {
      expect(seen).toEqual(history);
    } else {
      expect(isExpiredOrGone(ended)).toBe(true);
      expect(expiry || slideAt < steps).toBe(true);
      expect(seen).toEqual(history.slice(0, seen.length));
    }
    abort.abort();
    await reading;
    await factory.close();
  } finally {
    await pair.server.close();
  }
  expect(pair.clock.pendingTimers).toBe(0);
}

describe('RetryWatcher against the server under faults', () => {
  property<[number, number, number]>(
    'delivers every event once and in order, or says that the history is gone',
    [fc.integer({ min: 0, max: 2 ** 31 }), fc.integer({ min: 1, max: 60 }), fc.integer({ min: 0, max: 90 })],
    scenario,
    0.5,
  );
});
