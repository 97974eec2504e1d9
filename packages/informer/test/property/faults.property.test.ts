// The informer's promises under any schedule of faults: at quiescence its cache is the server's state, every handler saw each object's
// history in order and ends at its last state, and nothing is left after the end.
// KUBE_RX_SEEDS sets how many schedules are tried (200 without it), KUBE_RX_SEED runs one.
import { VirtualClock } from '@kube-rx/apimachinery';
import { describe, expect, it } from 'vitest';
import { ListWatch } from '../../src/rest/list-watch.ts';
import { defineResource } from '../../src/rest/resource-type.ts';
import { RestClient } from '../../src/rest/rest-client.ts';
import type { SharedIndexInformerOptions } from '../../src/shared-informer/informer-options.ts';
import { SharedIndexInformer } from '../../src/shared-informer/shared-index-informer.ts';
import type { StoreEvent } from '../../src/shared-informer/store-event.ts';
import { ModelServer } from '../support/model-server.ts';
import { seededRandom, type TestObject } from '../support/scripted-lister-watcher.ts';

const ConfigMaps = defineResource<TestObject>()({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  plural: 'configmaps',
  scope: 'Namespaced',
});
const COUNT = Number(process.env['KUBE_RX_SEEDS'] ?? 200);
const ONE = process.env['KUBE_RX_SEED'];
/** Seeds that once failed stay in every run. */
const KEPT: readonly number[] = [];

/** What a handler was told, checked as it comes. */
class Follower {
  readonly objects = new Map<string, string>();
  readonly problems: string[] = [];
  readonly #versions = new Map<string, number>();

  see(event: StoreEvent<TestObject>): void {
    if (event.type === 'synced') return;
    const { name, resourceVersion = '' } = event.object.metadata;
    const version = Number(resourceVersion);
    const before = this.#versions.get(name) ?? 0;
    if (version < before) this.problems.push(`${event.type} ${name}@${version} after ${before}`);
    if (event.type === 'added' && this.objects.has(name)) this.problems.push(`${name} added twice`);
    if (event.type !== 'added' && !this.objects.has(name)) this.problems.push(`${name} ${event.type} but never added`);
    // Of an object that was replaced by another the final state may be told, which nobody saw before.
    if (
      event.type === 'updated' &&
      !event.recreated &&
      event.previous.metadata.resourceVersion !== this.objects.get(name)
    ) {
      this.problems.push(`${name} updated from a state that was not told`);
    }
    this.#versions.set(name, version);
    if (event.type === 'deleted') this.objects.delete(name);
    else this.objects.set(name, resourceVersion);
  }
}

async function play(seed: number, options: SharedIndexInformerOptions<TestObject>): Promise<void> {
  const random = seededRandom(seed);
  const clock = new VirtualClock();
  const server = new ModelServer({
    clock,
    random,
    faultRate: random() * 0.3,
    window: 3 + Math.floor(random() * 20),
    names: 1 + Math.floor(random() * 8),
  });
  const client = new RestClient({ server: 'http://model.test', transport: server, clock });
  const listWatch = new ListWatch<TestObject>(client, ConfigMaps, { maxRetries: 0 });
  const informer = new SharedIndexInformer<TestObject>(listWatch, {
    clock,
    random,
    expected: ConfigMaps,
    pageSize: random() < 0.3 ? 2 : 0,
    ...options,
  });
  const sync = new Follower();
  const slow = new Follower();
  const late = new Follower();
  informer.handle((event) => sync.see(event));
  informer.handle(
    async (event) => {
      slow.see(event);
      await new Promise<void>((resolve) => clock.setTimer(resolve, 500));
    },
    { buffer: { max: 3, overflow: random() < 0.5 ? 'conflate' : 'drop-and-resync' } },
  );
  const controller = new AbortController();
  const done = informer.run({ signal: controller.signal });
  for (let step = 0; step < 60; step++) {
    for (let count = Math.floor(random() * 4); count > 0; count--) server.change();
    if (random() < 0.1) server.bookmark();
    if (random() < 0.05) server.cutAll();
    if (step === 30) informer.handle((event) => late.see(event));
    await clock.advance(random() < 0.2 ? random() * 60_000 : random() * 2000);
  }
  server.faults = false;
  // The longest any of it may take to heal: a back-off of a minute, then a half-open stream.
  await clock.advance(700_000);
  server.change();
  await clock.advance(700_000);

  const truth = new Map([...server.objects].map(([name, object]) => [name, object.metadata.resourceVersion]));
  const cache = new Map(informer.store.list().map(({ metadata }) => [metadata.name, metadata.resourceVersion]));
  expect(cache).toEqual(truth);
  for (const follower of [sync, slow, late]) {
    expect(follower.problems).toEqual([]);
    expect(follower.objects).toEqual(truth);
  }
  expect(server.openWatches).toBe(1);
  controller.abort();
  await done;
  expect(server.openWatches).toBe(0);
  await clock.advance(1000);
  expect(clock.pendingTimers).toBe(0);
}

describe('an informer under random faults', () => {
  const seeds =
    ONE === undefined ? [...KEPT, ...Array.from({ length: COUNT }, (_, index) => index + 1)] : [Number(ONE)];
  it.each<[string, SharedIndexInformerOptions<TestObject>]>([
    ['with the modern defaults', {}],
    ['in the order of DeltaFIFO', { queue: 'delta' }],
    [
      'as client-go 1.30, told of unchanged objects, with a watchdog',
      { profile: 'client-go-1.30', idleTimeoutMs: 60_000 },
    ],
  ])(
    'agrees with the server %s',
    async (_, options) => {
      for (const seed of seeds) {
        try {
          await play(seed, options);
        } catch (error) {
          throw new Error(`seed ${seed}`, { cause: error });
        }
      }
    },
    600_000,
  );
});
