// Events of a controller, as the server keeps them.
import { ConfigMaps, createEventRecorder } from '@kube-rx/informer';
import { describe, expect, it } from 'vitest';
import { advanceUntil, startPair } from './support/pair.ts';

interface StoredEvents {
  readonly items: readonly {
    readonly reason: string;
    readonly message: string;
    readonly count: number;
    readonly involvedObject: { readonly uid: string };
  }[];
}

describe('an event recorder against the server', () => {
  it('stores an Event, counts it, and combines many alike', async () => {
    await using pair = await startPair();
    await pair.createNamespace('shop');
    const map = await pair.client.resource(ConfigMaps, 'shop').create({ metadata: { name: 'a' } });
    const recorder = createEventRecorder(pair.client, { component: 'tester', clock: pair.clock });
    const stored = () => pair.client.rest.json<StoredEvents>({ path: '/api/v1/namespaces/shop/events' });
    for (let n = 0; n < 3; n++) recorder.event(map, 'Normal', 'Synced', 'is in sync');
    await advanceUntil(pair.clock, async () => (await stored()).items[0]?.count === 3);
    expect((await stored()).items[0]).toMatchObject({
      reason: 'Synced',
      message: 'is in sync',
      involvedObject: { uid: map.metadata.uid },
    });
    for (let n = 0; n < 15; n++) recorder.event(map, 'Warning', 'Failed', `try ${n} failed`);
    await advanceUntil(pair.clock, async () => (await stored()).items.some(({ count }) => count === 6));
    const { items } = await stored();
    expect(items).toHaveLength(1 + 9 + 1);
    expect(items.find(({ count }) => count === 6)?.message).toBe('(combined from similar events): try 14 failed');
    await recorder.close();
  });
});
