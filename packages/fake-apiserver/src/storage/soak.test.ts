// Ten simulated hours: clients that list, watch, resume and relist as real ones do, against storage whose watches break, whose
// history is compacted and whose readers stall. No client may miss, repeat or reorder a change, and nothing may pile up.
import { settle, VirtualClock } from '@kube-rx/apimachinery';
import { keyOf, listOptions, PREFIX, pod, podConfig } from '@kube-rx/contract/suites/storage-fixture';
import { describe, expect, it } from 'vitest';
import { EmbeddedEtcd } from '../etcd/embedded/embedded-etcd.ts';
import { createStorageFactory, type StorageBackend } from '../server/build-storage.ts';
import type { StorageWatch, StorageWatchEvent } from './interfaces.ts';
import type { ResourceStorage } from './storage-factory.ts';

const HOURS = Number(process.env['SOAK_HOURS'] ?? 10);
const STEP_MS = 5000;

function generator(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 0x1_0000_0000;
  };
}

/** A client as client-go's reflector: list, watch from its version, resume after an end, list again after a 410. */
class Reflector {
  readonly view = new Map<string, string>();
  relists = 0;
  resumes = 0;
  changes = 0;
  #watch: StorageWatch | undefined;
  #version = '';
  #endsAtMs = 0;

  readonly #storage: ResourceStorage;
  readonly #clock: VirtualClock;
  readonly #random: () => number;

  constructor(storage: ResourceStorage, clock: VirtualClock, random: () => number) {
    this.#storage = storage;
    this.#clock = clock;
    this.#random = random;
  }

  /** Reads what is there; `stalled` clients leave it. */
  async step(stalled: boolean): Promise<void> {
    if (this.#watch === undefined) await this.#open();
    if (stalled || this.#watch === undefined) return;
    for (let event = this.#watch.next(); event !== undefined; event = this.#watch?.next()) this.#apply(event);
    if (this.#watch?.done === true || this.#clock.now() >= this.#endsAtMs) {
      this.#watch?.stop();
      this.#watch = undefined;
      this.resumes++;
    }
  }

  stop(): void {
    this.#watch?.stop();
  }

  async #open(): Promise<void> {
    if (this.#version === '') {
      const list = await this.#storage.getList(PREFIX, listOptions());
      this.view.clear();
      for (const { key, object } of list.items) this.view.set(key, object.metadata.resourceVersion ?? '');
      this.#version = list.resourceVersion;
      this.relists++;
    }
    this.#endsAtMs = this.#clock.now() + 1_800_000 * (1 + this.#random());
    const opening = this.#storage.watch(
      PREFIX,
      listOptions({ resourceVersion: this.#version, bookmarks: true, deadlineMs: this.#endsAtMs }),
    );
    await this.#clock.advance(0);
    // A cache that is being filled lets a watch wait; it is taken up at the next step.
    void opening.then((watch) => {
      this.#watch = watch;
    });
    await settle();
  }

  #apply(event: StorageWatchEvent): void {
    if (event.type === 'ERROR') {
      expect(event.status.code).toBe(410);
      this.#version = '';
      this.#watch?.stop();
      this.#watch = undefined;
      return;
    }
    const { key, object, revision } = event.object;
    expect(revision).toBeGreaterThan(Number(this.#version) - (event.type === 'BOOKMARK' ? 1 : 0));
    this.#version = object.metadata.resourceVersion ?? '';
    if (event.type === 'BOOKMARK') return;
    this.changes++;
    expect(this.view.has(key)).toBe(event.type !== 'ADDED');
    if (event.type === 'DELETED') this.view.delete(key);
    else this.view.set(key, this.#version);
  }
}

async function truth(backend: ResourceStorage): Promise<Map<string, string>> {
  const list = await backend.getList(PREFIX, listOptions());
  return new Map(list.items.map(({ key, object }) => [key, object.metadata.resourceVersion ?? '']));
}

async function soak(cached: boolean, seed: number) {
  const random = generator(seed);
  const clock = new VirtualClock();
  const etcd = new EmbeddedEtcd({ clock });
  const backend: StorageBackend = createStorageFactory({ etcd, clock, random });
  const { triggerField: _, ...config } = podConfig;
  const storage = backend.create({ ...config, cached });
  backend.compactor.start();
  await backend.whenReady();
  const clients = Array.from({ length: 8 }, () => new Reflector(storage, clock, random));
  let largestRing = 0;
  let largestDatabase = 0;

  for (let at = 0; at < HOURS * 3_600_000; at += STEP_MS) {
    const writes = random() < 0.02 ? 60 : Math.floor(random() * 3);
    for (let i = 0; i < writes; i++) {
      const path = `ns/${Math.floor(random() * 40)}`;
      const made = pod(path, { image: String(random()) });
      if (random() < 0.2) await storage.delete(keyOf(path)).catch(() => undefined);
      else await storage.guaranteedUpdate(keyOf(path), () => ({ object: made }), { ignoreNotFound: true });
    }
    const fault = random();
    if (cached && fault < 0.0005) backend.reinitialize('pods');
    else if (cached && fault < 0.001) backend.slideWindow('pods');
    else if (cached && fault < 0.002) etcd.failWatches();
    await clock.advance(STEP_MS);
    const stalled = random() < 0.1 ? Math.floor(random() * clients.length) : -1;
    for (const [index, client] of clients.entries()) await client.step(index === stalled);
    if (at % 600_000 === 0) {
      const { caches, etcd: state } = await backend.inspect();
      largestRing = Math.max(largestRing, caches[0]?.ring.capacity ?? 0);
      largestDatabase = Math.max(largestDatabase, state.dbSizeBytes);
    }
  }
  // Time for everything that is under way.
  for (let i = 0; i < 10; i++) {
    await clock.advance(2000);
    for (const client of clients) await client.step(false);
  }
  const expected = await truth(storage);
  for (const client of clients) expect(new Map([...client.view].sort())).toEqual(expected);
  const totals = {
    changes: clients.reduce((sum, { changes }) => sum + changes, 0),
    relists: clients.reduce((sum, { relists }) => sum + relists, 0),
    resumes: clients.reduce((sum, { resumes }) => sum + resumes, 0),
    largestRing,
    largestDatabase,
  };
  for (const client of clients) client.stop();
  await backend.close();
  expect(etcd.watchers).toBe(0);
  await etcd.close();
  expect(clock.pendingTimers).toBe(0);
  return totals;
}

describe('ten hours', () => {
  it('of a cached resource leave every client with the truth, and nothing behind', { timeout: 120_000 }, async () => {
    const totals = await soak(true, 20_240_101);
    expect(totals.changes).toBeGreaterThan(10_000);
    expect(totals.relists).toBeGreaterThan(8);
    expect(totals.resumes).toBeGreaterThan(8 * HOURS);
    expect(totals.largestRing).toBeLessThanOrEqual(400);
    expect(totals.largestDatabase).toBeLessThan(1_000_000);
  });

  it('of a resource without a cache too', { timeout: 120_000 }, async () => {
    const totals = await soak(false, 7);
    expect(totals.changes).toBeGreaterThan(10_000);
    expect(totals.largestDatabase).toBeLessThan(1_000_000);
  });
});
