// One run of the pair under faults: what is done to server, network and clock, and what must hold when peace returns.
import type { KubernetesObject } from '@kube-rx/apimachinery';
import { isNotFound } from '@kube-rx/apimachinery';
import type { FakeApiServerOptions } from '@kube-rx/fake-apiserver';
import type { Informer, SharedInformerFactoryOptions } from '@kube-rx/informer';
import { ConfigMaps, SharedInformerFactory } from '@kube-rx/informer';
import fc from 'fast-check';
import { expect } from 'vitest';
import type { EventLedger } from './event-ledger.ts';
import { FaultyTransport } from './faulty-transport.ts';
import { FACES, type Face, type Follower, follow } from './followers.ts';
import type { Pair } from './pair.ts';
import { advanceUntil, rest, startPair } from './pair.ts';
import { pick, seeded } from './random.ts';
import { WriteHistory } from './write-history.ts';

export const STEPS = [
  'write',
  'delete',
  'recreate',
  'elsewhere',
  'leap',
  'advance',
  'long-advance',
  'compact',
  'slide',
  'reinitialize',
  'restart',
  'late-handler',
  'drop-handler',
] as const;
export type Step = (typeof STEPS)[number];
const RARE = STEPS.filter((step) => !['write', 'delete', 'recreate', 'elsewhere', 'advance'].includes(step));

/** What happens while a request or an answer is on its way. */
export const DISTURBANCES = ['compact', 'slide', 'reinitialize', 'restart', 'write', 'delete', 'recreate'] as const;

export const anyStep: fc.Arbitrary<Step> = fc.oneof(
  { weight: 10, arbitrary: fc.constant<Step>('write') },
  { weight: 4, arbitrary: fc.constant<Step>('delete') },
  { weight: 2, arbitrary: fc.constant<Step>('recreate') },
  { weight: 2, arbitrary: fc.constant<Step>('elsewhere') },
  { weight: 8, arbitrary: fc.constant<Step>('advance') },
  { weight: 2, arbitrary: fc.constantFrom<Step[]>(...RARE) },
);

/** A pair to be tried: what is not named is the default of both sides. */
export interface Variant {
  readonly server?: FakeApiServerOptions;
  readonly informer?: SharedInformerFactoryOptions;
}

const NAMES = ['a', 'b', 'c', 'd', 'e'];
const NAMESPACES = ['one', 'two'];

export class FaultRun {
  readonly pair: Pair;
  readonly faulty: FaultyTransport;
  readonly factory: SharedInformerFactory;
  readonly informer: Informer<KubernetesObject>;
  readonly #followers: Follower[] = [];
  readonly #dropped: { readonly ledger: EventLedger; readonly told: number }[] = [];
  readonly #history = new WriteHistory();
  readonly #random: () => number;
  readonly #hasWatchCache: boolean;
  #written = 0;
  // Writes and what is done to the server come one after the other: a write that dies with the server would have two outcomes.
  #turn: Promise<unknown> = Promise.resolve();

  private constructor(pair: Pair, seed: number, { informer: options = {}, server = {} }: Variant) {
    this.pair = pair;
    this.#hasWatchCache = server.watchCache ?? true;
    this.#random = seeded(seed);
    const { clock, transport } = pair;
    const modern = options.profile !== 'client-go-1.30';
    this.faulty = new FaultyTransport({
      inner: transport,
      clock,
      random: seeded(seed + 2),
      // client-go of that version does not notice a connection that fell silent, and waits for as long as it is told.
      halfOpen: modern,
      unreasonable: modern,
      meanwhile: () => this.#disturb(),
    });
    const client = pair.connect({ transport: this.faulty, timeoutMs: 20_000 });
    this.factory = new SharedInformerFactory(client, {
      clock,
      random: seeded(seed + 3),
      handlerBuffer: 'unbounded',
      ...options,
    });
    this.informer = this.factory.informer(ConfigMaps);
    this.informer.faults$.subscribe(({ kind }) => this.faulty.count(`fault ${kind}`));
    this.#follow('handler');
    this.#follow(pick(seeded(seed + 4), FACES));
  }

  get ledgers(): readonly EventLedger[] {
    return this.#followers.map(({ ledger }) => ledger);
  }

  /** `seed` decides what faults come and when. */
  static async start(seed: number, variant: Variant): Promise<FaultRun> {
    const pair = await startPair({ random: seeded(seed + 1), ...variant.server });
    try {
      for (const namespace of NAMESPACES) await pair.createNamespace(namespace);
      return new FaultRun(pair, seed, variant);
    } catch (error) {
      await pair.server.close();
      throw error;
    }
  }

  async take(step: Step): Promise<void> {
    const { clock, client } = this.pair;
    this.faulty.count(`step ${step}`);
    switch (step) {
      case 'write':
      case 'delete':
      case 'recreate':
        return this.#exclusive(() => this.#write(step));
      case 'elsewhere':
      case 'leap':
        // Moves the version without the informer seeing it.
        return this.#exclusive(async () => {
          for (let left = step === 'leap' ? 30 : 1; left > 0; left--) {
            const labels = { touched: String(++this.#written) };
            const path = '/api/v1/namespaces/default';
            const contentType = 'application/merge-patch+json';
            await client.rest.json({ method: 'PATCH', path, contentType, body: { metadata: { labels } } });
          }
        });
      case 'advance':
        await clock.advance(Math.floor(this.#random() * 3000));
        return;
      case 'long-advance':
        await clock.advance(400_000);
        return;
      case 'late-handler':
        this.#follow(pick(this.#random, FACES));
        return;
      case 'drop-handler':
        this.#drop();
        return;
      default:
        return this.#exclusive(() => this.#act(step));
    }
  }

  #follow(face: Face): void {
    this.faulty.count(`told a ${face}`);
    this.#followers.push(follow(this.informer, face, this.pair.clock));
  }

  /** The first two stay. */
  #drop(): void {
    const follower = this.#followers.length > 2 ? this.#followers.pop() : undefined;
    if (follower === undefined) return;
    follower.stop();
    this.#dropped.push({ ledger: follower.ledger, told: follower.ledger.log.length });
  }

  async #write(step: 'write' | 'delete' | 'recreate'): Promise<void> {
    const name = pick(this.#random, NAMES);
    const maps = this.pair.client.resource(ConfigMaps, pick(this.#random, NAMESPACES));
    const data = { n: String(++this.#written), filler: 'é'.repeat(Math.floor(this.#random() * 40)) };
    const create = async (): Promise<void> => {
      this.#history.record(await maps.create({ metadata: { name }, data }));
    };
    if (step === 'write') {
      try {
        this.#history.record(await maps.patch(name, { data }));
        return;
      } catch (error) {
        if (!isNotFound(error)) throw error;
      }
      return create();
    }
    await maps.delete(name).catch((error: unknown) => {
      if (!isNotFound(error)) throw error;
    });
    if (step === 'recreate') await create();
  }

  async #act(act: 'compact' | 'slide' | 'reinitialize' | 'restart'): Promise<void> {
    const { server } = this.pair;
    switch (act) {
      case 'compact':
        // Twice at one revision is an error of etcd.
        await server.compact().catch((error: { readonly code?: unknown }) => {
          if (error.code !== 'Compacted') throw error;
        });
        return;
      case 'slide':
        if (this.#hasWatchCache) server.slideWindow('configmaps');
        return;
      case 'reinitialize':
        if (this.#hasWatchCache) server.reinitialize('configmaps');
        return;
      case 'restart':
        return server.restart();
    }
  }

  /** While a request or an answer is on its way. */
  async #disturb(): Promise<void> {
    const act = pick(this.#random, DISTURBANCES);
    this.faulty.count(`meanwhile ${act}`);
    await this.#exclusive(() =>
      act === 'write' || act === 'delete' || act === 'recreate' ? this.#write(act) : this.#act(act),
    );
  }

  #exclusive<T>(run: () => Promise<T>): Promise<T> {
    const mine = this.#turn.then(run);
    this.#turn = mine.catch(() => {});
    return mine;
  }

  /** Ends the faults and waits until the cache has what the server has. */
  async settle(): Promise<void> {
    const { clock, client } = this.pair;
    this.faulty.active = false;
    const server = await this.#exclusive(() => client.resource(ConfigMaps).list());
    const wanted = held(server.items);
    const status = (): string =>
      [`server ${text(wanted)}`, `cache ${text(held(this.informer.store.list()))}`, text(this.informer.status)].join(
        '\n',
      );
    const done = (): boolean =>
      equal(wanted, held(this.informer.store.list())) &&
      this.informer.status.phase === 'watching' &&
      this.ledgers.every(({ objects }) => equal(wanted, toldOf(objects)));
    await advanceUntil(clock, done, { stepMs: 5000, maxMs: 1_200_000, what: status });
    for (const { ledger, told } of this.#dropped) expect(ledger.log.length, 'told after it was removed').toBe(told);
    const all = [...this.ledgers, ...this.#dropped.map(({ ledger }) => ledger)];
    for (const { violations, log } of all) expect(violations, log.join('\n')).toEqual([]);
    for (const namespace of NAMESPACES) {
      const keys = (objects: readonly KubernetesObject[]): string[] => [...held(objects).keys()].sort();
      const wantedThere = server.items.filter(({ metadata }) => metadata.namespace === namespace);
      expect(keys(this.informer.store.list({ namespace }))).toEqual(keys(wantedThere));
    }
    const states = [...this.informer.store.list(), ...all.flatMap((ledger) => ledger.states)];
    expect(states.flatMap((object) => this.#history.check(object) ?? [])).toEqual([]);
    for (const { tombstones, recreations, deletions } of this.ledgers) {
      if (deletions > 0) this.faulty.count('told deletion');
      if (tombstones > 0) this.faulty.count('told tombstone');
      if (recreations > 0) this.faulty.count('told recreation');
    }
  }

  /** Nothing is told afterwards, and nothing is left behind on either side. */
  async close(): Promise<void> {
    await this.factory.close();
    await rest();
    const ofInformer = this.faulty.open.filter((url) => url.includes('/configmaps'));
    expect(ofInformer, 'answers left open').toEqual([]);
    const told = this.ledgers.map(({ log }) => log.length);
    this.faulty.active = false;
    await this.#turn;
    await rest();
    await this.pair.clock.advance(130_000);
    expect(this.ledgers.map(({ log }) => log.length)).toEqual(told);
    expect(this.faulty.open, 'answers left open for ever').toEqual([]);
    const { caches, runningRequests } = await this.pair.server.state();
    // The server itself watches some resources.
    const left = caches.filter(({ resource }) => resource === 'configmaps').flatMap(({ watchers }) => watchers);
    expect(left, 'watchers left on the server').toEqual([]);
    expect(runningRequests, 'requests left on the server').toBe(0);
  }

  async dispose(): Promise<void> {
    await this.factory.close();
    await this.#turn;
    await this.pair.server.close();
  }
}

type States = ReadonlyMap<string, string>;
const held = (objects: readonly KubernetesObject[]): States =>
  new Map(
    objects.map(({ metadata = {} }) => [
      `${metadata.namespace}/${metadata.name}`,
      `${metadata.uid}@${metadata.resourceVersion}`,
    ]),
  );
const toldOf = (objects: EventLedger['objects']): States =>
  new Map([...objects].map(([key, { uid, resourceVersion }]) => [key, `${uid}@${resourceVersion}`]));
const equal = (a: States, b: States): boolean =>
  a.size === b.size && [...a].every(([key, value]) => b.get(key) === value);
const text = (value: unknown): string => JSON.stringify(value instanceof Map ? [...value] : value);
