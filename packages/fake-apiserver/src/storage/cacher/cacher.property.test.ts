// Under any schedule of writes, slow readers, lost watches, compactions and slid windows, a stream shows every change after its
// start once and in order until it ends; and a bookmark never says more than was delivered.
import { settle } from '@kube-rx/apimachinery';
import { keyOf, listOptions, namesOf, PREFIX } from '@kube-rx/contract/suites/storage-fixture';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { CacherFixture } from '../../../test/support/cacher-fixture.ts';
import type { StorageWatch, StorageWatchEvent } from '../interfaces.ts';

type Command =
  | { readonly do: 'write'; readonly path: string; readonly app: string; readonly node: string; readonly times: number }
  | { readonly do: 'remove'; readonly path: string }
  | { readonly do: 'elsewhere' }
  | { readonly do: 'open'; readonly back: number; readonly kind: number; readonly bookmarks: boolean }
  | { readonly do: 'read'; readonly watch: number; readonly events: number }
  | { readonly do: 'wait'; readonly ms: number }
  | { readonly do: 'slide' | 'reinitialize' | 'lose' | 'compact' };

const pathArb = fc.constantFrom('x/a', 'x/b', 'x/c', 'y/a', 'y/b');
const commandArb: fc.Arbitrary<Command> = fc.oneof(
  {
    weight: 10,
    arbitrary: fc.record({
      do: fc.constant('write' as const),
      path: pathArb,
      app: fc.constantFrom('web', 'db'),
      node: fc.constantFrom('n1', 'n2'),
      times: fc.constantFrom(1, 1, 1, 4, 30),
    }),
  },
  { weight: 4, arbitrary: fc.record({ do: fc.constant('remove' as const), path: pathArb }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('elsewhere' as const) }) },
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant('open' as const),
      back: fc.integer({ min: -1, max: 12 }),
      kind: fc.nat({ max: 4 }),
      bookmarks: fc.boolean(),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({ do: fc.constant('read' as const), watch: fc.nat({ max: 7 }), events: fc.nat({ max: 40 }) }),
  },
  { weight: 4, arbitrary: fc.record({ do: fc.constant('wait' as const), ms: fc.constantFrom(1, 60, 1500, 61_000) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constantFrom('slide', 'reinitialize', 'lose', 'compact') }) },
);

interface State {
  readonly app: string;
  readonly node: string;
  readonly revision: number;
}
type World = ReadonlyMap<string, State>;

const KINDS: readonly { labels?: string; fields?: string; path: string; wants(path: string, state: State): boolean }[] =
  [
    { path: PREFIX, wants: () => true },
    { path: PREFIX, labels: 'app=web', wants: (_, state) => state.app === 'web' },
    { path: keyOf('x'), wants: (path) => path.startsWith('x/') },
    { path: PREFIX, fields: 'spec.nodeName=n1', wants: (_, state) => state.node === 'n1' },
    { path: PREFIX, fields: 'metadata.name=a', wants: (path) => path.endsWith('/a') },
  ];

/** What one client knows by its stream. */
class Client {
  readonly watch: StorageWatch;
  readonly #view: Map<string, number>;
  readonly #expected: (revision: number) => [string, number][];
  #lastRevision: number;
  ended: string | undefined;

  constructor(watch: StorageWatch, start: number, expected: (revision: number) => [string, number][]) {
    this.watch = watch;
    this.#expected = expected;
    this.#view = new Map(start > 0 ? expected(start) : []);
    this.#lastRevision = start;
  }

  read(count: number): void {
    for (let i = 0; i < count; i++) {
      const event = this.watch.next();
      if (event === undefined) break;
      this.#apply(event);
    }
    if (this.watch.done) this.ended ??= 'EOF';
  }

  expectUpToDate(revision: number): void {
    expect(this.view).toEqual(this.#expected(revision));
  }

  get view(): [string, number][] {
    return [...this.#view].sort(([a], [b]) => (a < b ? -1 : 1));
  }

  #apply(event: StorageWatchEvent): void {
    if (event.type === 'ERROR') {
      expect(event.status.code).toBe(410);
      this.ended = 'Gone';
      return;
    }
    const { revision, object } = event.object;
    const path = `${object.metadata.namespace}/${object.metadata.name}`;
    if (event.type === 'BOOKMARK') {
      expect(revision).toBeGreaterThanOrEqual(this.#lastRevision);
      expect(this.view).toEqual(this.#expected(revision));
      this.#lastRevision = revision;
      return;
    }
    expect(this.#view.has(path)).toBe(event.type !== 'ADDED');
    // Those of the initial state have versions of their own.
    if (this.#lastRevision > 0) expect(revision).toBeGreaterThan(this.#lastRevision);
    if (event.type === 'DELETED') this.#view.delete(path);
    else this.#view.set(path, revision);
    if (this.#lastRevision > 0 || event.type !== 'ADDED') this.#lastRevision = revision;
  }
}

async function run(commands: readonly Command[], seed: number): Promise<void> {
  let state = seed;
  const random = (): number => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fffffff;
    return state / 0x80000000;
  };
  const fixture = await CacherFixture.ready({
    random,
    triggerField: 'spec.nodeName',
    watchCache: { lowerBoundCapacity: 8, upperBoundCapacity: 64, intervalBuffer: 3 },
  });
  const worlds = new Map<number, World>([[1, new Map()]]);
  let world: World = new Map();
  const worldAt = (revision: number): World => {
    for (let at = revision; ; at--) {
      const found = worlds.get(at);
      if (found !== undefined) return found;
    }
  };
  const keep = (change: (next: Map<string, State>, revision: number) => void): void => {
    const next = new Map(world);
    change(next, fixture.etcd.revision);
    world = next;
    worlds.set(fixture.etcd.revision, world);
  };
  const clients: Client[] = [];

  for (const command of commands) {
    if (command.do === 'write') {
      const { path, app, node } = command;
      for (let i = 0; i < command.times; i++) {
        await fixture.etcdPut(path, { labels: { app }, node, image: String(fixture.etcd.revision) });
        keep((next, revision) => next.set(path, { app, node, revision }));
      }
    } else if (command.do === 'remove') {
      if (!world.has(command.path)) continue;
      await fixture.etcd.txn({ compare: [], success: [{ op: 'delete', key: keyOf(command.path) }], failure: [] });
      keep((next) => next.delete(command.path));
    } else if (command.do === 'elsewhere') await fixture.elsewhere();
    else if (command.do === 'open') {
      const kind = KINDS[command.kind]!;
      const start = command.back < 0 ? 0 : Math.max(1, fixture.etcd.revision - command.back);
      if (!fixture.cacher.ready) continue;
      const { labels, fields } = kind;
      const watch = await fixture.cacher.watch(
        kind.path,
        listOptions({
          resourceVersion: String(start),
          bookmarks: command.bookmarks,
          ...(labels === undefined ? {} : { labels }),
          ...(fields === undefined ? {} : { fields }),
        }),
      );
      const expected = (revision: number): [string, number][] =>
        [...worldAt(revision)]
          .filter(([path, object]) => kind.wants(path, object))
          .map(([path, object]): [string, number] => [path, object.revision])
          .sort(([a], [b]) => (a < b ? -1 : 1));
      clients.push(new Client(watch, start, expected));
    } else if (command.do === 'read') clients[command.watch % Math.max(1, clients.length)]?.read(command.events);
    else if (command.do === 'wait') await fixture.clock.advance(command.ms);
    else if (command.do === 'slide') fixture.cacher.slideWindow();
    else if (command.do === 'reinitialize') fixture.cacher.reinitialize();
    else if (command.do === 'lose') fixture.etcd.failWatches();
    else if (fixture.etcd.revision > (fixture.etcd.compactRevision ?? 0))
      await fixture.etcd.compact(fixture.etcd.revision);
  }

  // Everybody reads to the end while time passes: enough to give up on a watch that cannot be resumed.
  for (let i = 0; i < 24; i++) {
    for (const client of clients) client.read(Number.POSITIVE_INFINITY);
    await fixture.clock.advance(1500);
    await settle();
  }
  for (const client of clients) {
    client.read(Number.POSITIVE_INFINITY);
    if (client.ended !== undefined) continue;
    client.expectUpToDate(fixture.etcd.revision);
  }
  const list = await fixture.cacher.getList(PREFIX, listOptions({ resourceVersion: '0' }));
  expect(namesOf(list)).toEqual([...world.keys()].sort());
  for (const client of clients) client.watch.stop();
  expect(fixture.cacher.inspect().watchers).toEqual([]);
  await fixture.close();
  expect(fixture.clock.pendingTimers).toBe(0);
}

describe('Cacher', () => {
  it('shows every change once and in order, whatever happens around it', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(commandArb, { maxLength: 60, size: 'max' }), fc.nat({ max: 1_000_000 }), run),
      { numRuns: Number(process.env['PROPERTY_RUNS'] ?? 150) },
    );
  });
});
