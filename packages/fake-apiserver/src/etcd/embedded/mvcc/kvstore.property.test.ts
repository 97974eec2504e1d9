// The MVCC store against a model that keeps a full copy of every revision.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { KeyValue } from '../../client.ts';
import { isEtcdError } from '../../errors.ts';
import { KvStore, type KvWrite } from './kvstore.ts';

type Command =
  | { readonly do: 'write'; readonly writes: readonly KvWrite[] }
  | { readonly do: 'compact'; readonly back: number };

const keyArb = fc.constantFrom('a/1', 'a/2', 'a/3', 'b/1', 'b/2', 'b', 'c');
const writeArb: fc.Arbitrary<KvWrite> = fc.oneof(
  fc.record({
    op: fc.constant('put' as const),
    key: keyArb,
    value: fc.string().map((text) => Buffer.from(text)),
    lease: fc.constant(''),
  }),
  fc.record({ op: fc.constant('delete' as const), key: keyArb }),
);
const commandArb: fc.Arbitrary<Command> = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({
      do: fc.constant('write' as const),
      writes: fc.uniqueArray(writeArb, { minLength: 1, maxLength: 3, selector: (write) => write.key }),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('compact' as const), back: fc.nat({ max: 5 }) }) },
);

type State = ReadonlyMap<string, KeyValue>;

class Model {
  revision = 1;
  compactRevision = 0;
  readonly states: State[] = [new Map(), new Map()];
  readonly changes: { readonly revision: number; readonly key: string; readonly type: string }[] = [];

  write(writes: readonly KvWrite[]): void {
    const next = new Map(this.states[this.revision]);
    const revision = this.revision + 1;
    let changed = false;
    for (const write of writes) {
      const old = next.get(write.key);
      if (write.op === 'delete' && old === undefined) continue;
      changed = true;
      this.changes.push({ revision, key: write.key, type: write.op });
      if (write.op === 'delete') next.delete(write.key);
      else
        next.set(write.key, {
          key: write.key,
          value: write.value,
          lease: '',
          createRevision: old?.createRevision ?? revision,
          modRevision: revision,
          version: (old?.version ?? 0) + 1,
        });
    }
    if (!changed) return;
    this.revision = revision;
    this.states.push(next);
  }

  range(from: string, to: string, revision: number): KeyValue[] {
    return [...this.states[revision]!.values()]
      .filter(({ key }) => key >= from && key < to)
      .sort((a, b) => (a.key < b.key ? -1 : 1));
  }
}

const RANGES = [
  ['a/', 'a0'],
  ['b/', 'b0'],
  ['a', 'z'],
] as const;

function compareRanges(store: KvStore, model: Model): void {
  expect(store.revision).toBe(model.revision);
  for (const [from, to] of RANGES) {
    for (let revision = Math.max(1, model.compactRevision); revision <= model.revision; revision++) {
      const expected = model.range(from, to, revision);
      const all = store.range({ key: from, rangeEnd: to, revision });
      expect(all.kvs).toEqual(expected);
      expect(all.count).toBe(expected.length);
      const page = store.range({ key: from, rangeEnd: to, revision, limit: 2 });
      expect(page.kvs).toEqual(expected.slice(0, 2));
      expect(page.count).toBe(expected.length);
      expect(page.more).toBe(expected.length > 2);
    }
    for (let revision = 1; revision < model.compactRevision; revision++) {
      expect(() => store.range({ key: from, rangeEnd: to, revision })).toThrow('required revision has been compacted');
    }
  }
}

function compare(store: KvStore, model: Model): void {
  compareRanges(store, model);
  while (store.scrub(3)) compareRanges(store, model);
  const kept = model.changes.filter(({ revision }) => revision >= model.compactRevision);
  expect([...store.log].map(({ type, kv }) => ({ revision: kv.modRevision, key: kv.key, type }))).toEqual(kept);
  for (const { kv, prevKv } of store.log) {
    const before = model.states[kv.modRevision - 1]!.get(kv.key);
    expect(prevKv).toEqual(kv.modRevision > model.compactRevision ? before : undefined);
  }
}

describe('KvStore', () => {
  it('reads at every kept revision what a full copy of that revision holds', () => {
    fc.assert(
      fc.property(fc.array(commandArb, { maxLength: 40 }), (commands) => {
        const store = new KvStore();
        const model = new Model();
        for (const command of commands) {
          if (command.do === 'write') {
            store.apply(command.writes);
            model.write(command.writes);
            // Forgetting goes on while there are new writes.
            store.scrub(1);
            continue;
          }
          const revision = Math.max(1, model.revision - command.back);
          try {
            store.compact(revision);
            expect(revision).toBeGreaterThan(model.compactRevision);
            model.compactRevision = revision;
          } catch (error) {
            if (!isEtcdError(error, 'Compacted')) throw error;
            expect(revision).toBeLessThanOrEqual(model.compactRevision);
          }
        }
        compare(store, model);
      }),
      { numRuns: 150 },
    );
  });

  it('weighs only what is kept', () => {
    const store = new KvStore();
    const value = Buffer.alloc(100);
    for (let i = 0; i < 10; i++) store.apply([{ op: 'put', key: 'k', value, lease: '' }]);
    store.apply([{ op: 'delete', key: 'k' }]);
    store.apply([{ op: 'put', key: 'other', value, lease: '' }]);
    store.compact(store.revision);
    store.apply([{ op: 'put', key: 'other', value, lease: '' }]);
    store.compact(store.revision);
    expect(store.scrub(5)).toBe(true);
    while (store.scrub(5));
    expect(store.sizeBytes).toBe(105);
  });
});
