import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { describeStore } from '../../../../contract/suites/store.suite.ts';
import { CompactObjectTable } from './compact-object-table.ts';
import { IndexedStore } from './indexed-store.ts';
import type { ObjectTable } from './object-table.ts';

describeStore({
  name: 'IndexedStore over a CompactObjectTable',
  create: (options) => new IndexedStore({ ...options, table: new CompactObjectTable({ hotObjects: 1 }) }),
});

describe('CompactObjectTable', () => {
  it('gives the hot object itself and equal ones for the cold', () => {
    const table = new CompactObjectTable<{ text: string }>({ hotObjects: 1 });
    const first = { text: 'é😀\u2028"\\' };
    table.set('a', first);
    expect(table.get('a')).toBe(first);
    table.set('b', { text: 'b' });
    expect(table.get('a')).toEqual(first);
    expect(table.get('a')).not.toBe(first);
  });

  it('takes objects larger than a slab', () => {
    const table = new CompactObjectTable<{ text: string }>({ hotObjects: 1 });
    const large = { text: 'x'.repeat(3 << 20) };
    table.set('large', large);
    table.set('small', { text: 's' });
    expect(table.get('large')).toEqual(large);
  });

  it('gives back the space of what was overwritten', () => {
    const table = new CompactObjectTable<{ round: number; pad: string }>({ hotObjects: 1 });
    const pad = 'x'.repeat(10_000);
    for (let round = 0; round < 40; round++) for (let key = 0; key < 100; key++) table.set(`k${key}`, { round, pad });
    expect(table.bytes.allocated).toBeLessThan(10 << 20);
    expect([...table.values()].every((each) => each.round === 39)).toBe(true);
    for (let key = 0; key < 100; key++) table.delete(`k${key}`);
    expect([table.size, table.bytes.live]).toEqual([0, 0]);
  });

  it('agrees with a Map after any run of changes, and so do its copies', () => {
    const step = fc.tuple(
      fc.constantFrom('set', 'set', 'delete', 'copy', 'clear'),
      fc.constantFrom('a', 'b', '__proto__'),
      fc.jsonValue({ maxDepth: 1 }),
    );
    fc.assert(
      fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
        const table = new CompactObjectTable<{ value: unknown }>({ hotObjects: 1 });
        const model = new Map<string, unknown>();
        const copies: [ObjectTable<{ value: unknown }>, Map<string, unknown>][] = [];
        for (const [op, key, value] of steps) {
          if (op === 'set') {
            const plain = JSON.parse(JSON.stringify({ value })) as { value: unknown };
            table.set(key, plain);
            model.set(key, plain);
          } else if (op === 'delete') {
            table.delete(key);
            model.delete(key);
          } else if (op === 'clear') {
            table.clear();
            model.clear();
          } else copies.push([table.copy(), new Map(model)]);
        }
        for (const [each, expected] of [[table, model] as const, ...copies]) {
          expect(new Map(each.entries())).toEqual(expected);
          expect(each.size).toBe(expected.size);
          for (const key of ['a', 'b', '__proto__'])
            expect([each.get(key), each.has(key)]).toEqual([expected.get(key), expected.has(key)]);
        }
      }),
    );
  });

  it('refuses to keep nothing hot', () => {
    expect(() => new CompactObjectTable({ hotObjects: 0 })).toThrow(/hotObjects/);
  });
});
