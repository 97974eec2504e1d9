// The promises of the pair under random faults: at quiescence the cache is the server's state, handlers were told each object's
// changes in order and lost no deletion, and nothing is left behind.
import type { KubernetesObject } from '@kube-rx/apimachinery';
import { isNotFound } from '@kube-rx/apimachinery';
import type { SharedInformerFactoryOptions } from '@kube-rx/informer';
import { ConfigMaps, SharedInformerFactory } from '@kube-rx/informer';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { EventLedger } from './support/event-ledger.ts';
import { FaultyTransport } from './support/faulty-transport.ts';
import type { Pair } from './support/pair.ts';
import { advanceUntil, rest, startPair } from './support/pair.ts';
import { pick, seeded } from './support/random.ts';

type Step =
  | 'write'
  | 'delete'
  | 'recreate'
  | 'elsewhere'
  | 'advance'
  | 'long-advance'
  | 'compact'
  | 'slide'
  | 'restart'
  | 'late-handler';
const step = fc.oneof(
  { weight: 10, arbitrary: fc.constant<Step>('write') },
  { weight: 4, arbitrary: fc.constant<Step>('delete') },
  { weight: 2, arbitrary: fc.constant<Step>('recreate') },
  { weight: 2, arbitrary: fc.constant<Step>('elsewhere') },
  { weight: 8, arbitrary: fc.constant<Step>('advance') },
  { weight: 1, arbitrary: fc.constantFrom<Step[]>('long-advance', 'compact', 'slide', 'restart', 'late-handler') },
);
const NAMES = ['a', 'b', 'c', 'd', 'e'];
const NAMESPACES = ['one', 'two'];
const runs = Number(process.env['RUNS'] ?? 60);

class Run {
  readonly pair: Pair;
  readonly #random: () => number;
  readonly ledgers: EventLedger[] = [];
  readonly faulty: FaultyTransport;
  readonly factory: SharedInformerFactory;
  readonly informer: ReturnType<SharedInformerFactory['informer']>;
  #counter = 0;

  constructor(pair: Pair, seed: number, options: SharedInformerFactoryOptions) {
    this.pair = pair;
    this.#random = seeded(seed);
    const { clock, transport } = pair;
    // client-go of that version does not notice a connection that fell silent.
    const halfOpen = options.profile !== 'client-go-1.30';
    this.faulty = new FaultyTransport({ inner: transport, clock, random: this.#random, halfOpen });
    const client = pair.connect({ transport: this.faulty, timeoutMs: 20_000 });
    this.factory = new SharedInformerFactory(client, {
      clock,
      random: this.#random,
      handlerBuffer: 'unbounded',
      ...options,
    });
    this.informer = this.factory.informer(ConfigMaps);
    this.addHandler();
  }

  addHandler(): void {
    const ledger = new EventLedger();
    this.ledgers.push(ledger);
    this.informer.handle(ledger.handle);
  }

  async take(what: Step): Promise<void> {
    const { clock, server, client } = this.pair;
    const namespace = pick(this.#random, NAMESPACES);
    const name = pick(this.#random, NAMES);
    const maps = client.resource(ConfigMaps, namespace);
    const data = { n: String(++this.#counter), filler: 'é'.repeat(Math.floor(this.#random() * 40)) };
    const create = () => maps.create({ metadata: { name }, data });
    const remove = () => maps.delete(name).catch(ignoreNotFound);
    switch (what) {
      case 'write':
        await maps
          .patch(name, { data })
          .catch((error: unknown) => (isNotFound(error) ? create() : Promise.reject(error)));
        return;
      case 'delete':
        await remove();
        return;
      case 'recreate':
        await remove();
        await create();
        return;
      case 'elsewhere':
        // Moves the version without the informer seeing it.
        await client.rest.json({
          method: 'POST',
          path: '/api/v1/namespaces',
          body: { metadata: { generateName: 'other-' } },
        });
        return;
      case 'advance':
        await clock.advance(Math.floor(this.#random() * 3000));
        return;
      case 'long-advance':
        await clock.advance(400_000);
        return;
      case 'compact':
        // Twice at one revision is an error of etcd.
        await server.compact().catch((error: { readonly code?: unknown }) => {
          if (error.code !== 'Compacted') throw error;
        });
        return;
      case 'slide':
        server.slideWindow('configmaps');
        return;
      case 'restart':
        await server.restart();
        return;
      case 'late-handler':
        this.addHandler();
    }
  }

  /** Ends the faults and waits until the cache has what the server has. */
  async settle(): Promise<void> {
    const { clock, client } = this.pair;
    this.faulty.active = false;
    const wanted = await states(client.resource(ConfigMaps));
    await advanceUntil(
      clock,
      () =>
        equal(wanted, held(this.informer.store.list())) &&
        this.ledgers.every(({ objects }) => objects.size === wanted.size),
      {
        stepMs: 1000,
        maxMs: 1_200_000,
        what: () =>
          `server ${JSON.stringify([...wanted])}, cache ${JSON.stringify([...held(this.informer.store.list())])}, status ${JSON.stringify(this.informer.status)}`,
      },
    );
    for (const { objects, violations, log } of this.ledgers) {
      expect(violations, log.join('\n')).toEqual([]);
      const told = new Map([...objects].map(([key, { uid, resourceVersion }]) => [key, `${uid}@${resourceVersion}`]));
      expect(told).toEqual(wanted);
    }
  }

  async close(): Promise<void> {
    await this.factory.close();
    await rest();
    for (const { log } of this.ledgers) {
      const before = log.length;
      await this.pair.clock.advance(10_000);
      expect(log.length).toBe(before);
    }
  }
}

function ignoreNotFound(error: unknown): void {
  if (!isNotFound(error)) throw error;
}

type States = Map<string, string>;
const held = (objects: readonly KubernetesObject[]): States =>
  new Map(
    objects.map(({ metadata = {} }) => [
      `${metadata.namespace}/${metadata.name}`,
      `${metadata.uid}@${metadata.resourceVersion}`,
    ]),
  );
const equal = (a: States, b: States): boolean =>
  a.size === b.size && [...a].every(([key, value]) => b.get(key) === value);
async function states(client: { list(): Promise<{ readonly items: readonly KubernetesObject[] }> }): Promise<States> {
  return held((await client.list()).items);
}

/** What happened in all runs: a property that met no fault would show nothing. */
const met = new Map<string, number>();

function property(options: SharedInformerFactoryOptions): (seed: number, steps: readonly Step[]) => Promise<void> {
  return async (seed, steps) => {
    const pair = await startPair({ random: seeded(seed + 1) });
    try {
      for (const namespace of NAMESPACES) await pair.createNamespace(namespace);
      const run = new Run(pair, seed, options);
      for (const each of steps) {
        await run.take(each);
        await rest(2);
      }
      await run.settle();
      await run.close();
      for (const [fault, count] of run.faulty.counts) met.set(fault, (met.get(fault) ?? 0) + count);
    } finally {
      await pair.server.close();
    }
    expect(pair.clock.pendingTimers).toBe(0);
  };
}

describe('informer and server under faults', () => {
  it.each([
    ['list and watch', {}],
    ['a streaming list', { initial: 'watch-list' as const }],
    [
      'the behaviour of client-go 1.30',
      { profile: 'client-go-1.30' as const, handlerBuffer: 'unbounded' as const, emitUnchanged: false },
    ],
  ])(
    'keep their promises with %s',
    async (_name, options) => {
      const seed = process.env['SEED'];
      await fc.assert(
        fc.asyncProperty(
          fc.integer({ min: 0, max: 2 ** 31 }),
          fc.array(step, { minLength: 5, maxLength: 60 }),
          property(options),
        ),
        { numRuns: runs, ...(seed === undefined ? {} : { seed: Number(seed) }) },
      );
    },
    600_000,
  );

  it('met every kind of fault', () => {
    for (const fault of [
      'refuse',
      'answer-lost',
      'status-429',
      'hang',
      'cut',
      'half-frame',
      'silence',
      'split',
      'delay',
    ]) {
      expect(met.get(fault) ?? 0, fault).toBeGreaterThan(0);
    }
  });
});
