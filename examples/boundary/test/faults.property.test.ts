// An informer and a server with a bad network between them: whatever happens, in the end the cache is what the server holds, and
// what the handler was told on the way is a possible history. Real sockets, seeded schedules; SEED and RUNS choose others.
import { setTimeout as pause } from 'node:timers/promises';
import { type FakeApiServer, startFakeApiServer } from '@kube-rx/fake-apiserver';
import {
  type ConnectedClient,
  createClient,
  defineResource,
  type Informer,
  isTransportError,
  SharedInformerFactory,
  type StoreEvent,
} from '@kube-rx/informer';
import { FaultProxy, leakGuard, type ProxyMode, seededRandom } from '@kube-rx/testkit';
import { describe, expect, it } from 'vitest';
import { reasonOf } from '../src/api-error.ts';
import { differences, keyOf, type Listed } from '../src/compare.ts';
import type { ConfigMapObject } from '../src/sample-objects.ts';

const ConfigMaps = defineResource<ConfigMapObject>()({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  plural: 'configmaps',
  scope: 'Namespaced',
});
const FIRST_SEED = Number(process.env['SEED'] ?? 1);
const RUNS = Number(process.env['RUNS'] ?? 6);
const STEPS = 60;
const NAMES = 5;
const QUIET_MS = 20_000;

/** Follows what a handler is told and objects to what cannot be. */
class History {
  readonly problems: string[] = [];
  readonly #versions = new Map<string, bigint>();

  readonly onEvent = (event: StoreEvent<ConfigMapObject>): void => {
    if (event.type === 'synced') return;
    const key = keyOf(event.object);
    const version = BigInt(event.object.metadata.resourceVersion);
    const known = this.#versions.get(key);
    if (event.type === 'added' && known !== undefined)
      this.problems.push(`${key} added twice, at ${known} and ${version}`);
    if (event.type !== 'added' && known === undefined)
      this.problems.push(`${key} ${event.type} at ${version} but unknown`);
    if (event.type === 'updated' && known !== undefined && version <= known) {
      this.problems.push(`${key} went from ${known} back to ${version}`);
    }
    if (event.type === 'deleted') this.#versions.delete(key);
    else this.#versions.set(key, version);
  };

  get keys(): string[] {
    return [...this.#versions.keys()].sort();
  }
}

/** One schedule: writes and faults in a random order, then quiet. */
class Schedule {
  readonly #random: () => number;
  readonly #server: FakeApiServer;
  readonly #proxy: FaultProxy;
  readonly #direct: ConnectedClient;

  constructor(seed: number, server: FakeApiServer, proxy: FaultProxy, direct: ConnectedClient) {
    this.#random = seededRandom(seed);
    this.#server = server;
    this.#proxy = proxy;
    this.#direct = direct;
  }

  async play(): Promise<void> {
    for (let step = 0; step < STEPS; step++) {
      const draw = this.#random();
      if (draw < 0.7) await this.#write();
      else if (draw < 0.85) await this.#disturb();
      else await pause(this.#random() * 40);
    }
    this.#proxy.mode = 'pass';
  }

  /** Twice at the same revision is an error of etcd, and no matter here. */
  async #compact(): Promise<void> {
    try {
      await this.#server.compact();
    } catch (error) {
      if ((error as { code?: unknown }).code !== 'Compacted') throw error;
    }
  }

  async #write(): Promise<void> {
    const resource = this.#direct.resource(ConfigMaps, 'default');
    const name = `object-${Math.floor(this.#random() * NAMES)}`;
    const data = { value: String(this.#random()) };
    const draw = this.#random();
    try {
      if (draw < 0.4) await resource.create({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name }, data });
      else if (draw < 0.75) await resource.patch(name, { data });
      else await resource.delete(name);
    } catch (error) {
      // A write that meets a restart may or may not have happened; both are fine.
      if (!['AlreadyExists', 'NotFound'].includes(reasonOf(error)) && !isTransportError(error)) throw error;
    }
  }

  async #disturb(): Promise<void> {
    const modes: ProxyMode[] = ['silent', 'stall', 'refuse'];
    switch (Math.floor(this.#random() * 6)) {
      case 0:
        this.#proxy.cut();
        break;
      case 1:
        this.#proxy.mode = modes[Math.floor(this.#random() * modes.length)]!;
        await pause(this.#random() * 100);
        for (let write = 0; write < 15; write++) await this.#write();
        this.#proxy.mode = 'pass';
        break;
      case 2:
        await this.#compact();
        break;
      case 3:
        this.#server.slideWindow('configmaps');
        break;
      case 4:
        if (this.#random() < 0.5) await this.#server.restart();
        break;
      default:
        this.#proxy.delayMs = this.#random() < 0.5 ? 0 : this.#random() * 20;
    }
  }
}

async function untilEqual(informer: Informer<ConfigMapObject>, direct: ConnectedClient): Promise<string[]> {
  const deadline = Date.now() + QUIET_MS;
  for (;;) {
    const { items } = await direct.resource(ConfigMaps).list();
    const found = differences(informer.store.list() as readonly Listed[], items as readonly Listed[]);
    if (found.length === 0 || Date.now() > deadline) return found;
    await pause(20);
  }
}

describe('an informer behind a bad network', { timeout: 120_000 }, () => {
  it.each(Array.from({ length: RUNS }, (_, run) => FIRST_SEED + run))(
    'ends with the state of the server, seed %d',
    async (seed) => {
      const guard = leakGuard();
      {
        await using server = await startFakeApiServer({
          insecure: true,
          watchCacheConstants: { lowerBoundCapacity: 8, upperBoundCapacity: 8, bookmarkFrequencyMs: 200 },
        });
        const { port } = new URL(server.url);
        await using proxy = await FaultProxy.listen({ targetPort: Number(port) });
        await using direct = createClient({ server: server.url, token: server.token });
        await using client = createClient(
          { server: `http://127.0.0.1:${proxy.port}`, token: server.token },
          { timeoutMs: 1_000 },
        );
        await ensureDefault(direct);
        await using factory = new SharedInformerFactory(client, {
          backoff: { initialMs: 10, maxMs: 50, resetMs: 1_000 },
          idleTimeoutMs: 1_000,
        });
        const informer = factory.informer(ConfigMaps);
        const history = new History();
        informer.events$.subscribe(history.onEvent);
        await new Schedule(seed, server, proxy, direct).play();
        expect(await untilEqual(informer, direct)).toEqual([]);
        expect(history.problems).toEqual([]);
        expect(history.keys).toEqual((informer.store.list() as readonly Listed[]).map(keyOf).sort());
      }
      await guard.check();
    },
  );
});

async function ensureDefault(client: ConnectedClient): Promise<void> {
  const namespaces = client.resource(await client.discovery.findKind('v1', 'Namespace'));
  try {
    await namespaces.create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'default' } });
  } catch (error) {
    if (reasonOf(error) !== 'AlreadyExists') throw error;
  }
}
