import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { SortedMap } from './sorted-map.ts';

describe('SortedMap', () => {
  it('is a Map whose keys are in order', () => {
    const key = fc.integer({ min: 0, max: 2000 }).map((n) => `k${n * 7919}`);
    const action = fc.tuple(fc.constantFrom('set', 'set', 'set', 'delete'), key);
    fc.assert(
      fc.property(fc.array(action, { maxLength: 3000, size: 'max' }), key, key, (actions, from, to) => {
        const map = new SortedMap<number>();
        const model = new Map<string, number>();
        actions.forEach(([what, name], index) => {
          if (what === 'set') {
            map.set(name, index);
            model.set(name, index);
          } else expect(map.delete(name)).toBe(model.delete(name));
        });
        const sorted = [...model].sort(([a], [b]) => (a < b ? -1 : 1));
        expect(map.size).toBe(model.size);
        expect(map.values()).toEqual(sorted.map(([, value]) => value));
        const within = sorted.filter(([name]) => name >= from && name < to);
        const seen: [string, number][] = [];
        map.scan(from, to, (value, name) => {
          seen.push([name, value]);
          return true;
        });
        expect(seen).toEqual(within);
        expect(map.countRange(from, to)).toBe(within.length);
        expect(map.countRange(from, undefined)).toBe(sorted.filter(([name]) => name >= from).length);
        expect(map.get(from)).toBe(model.get(from));
        expect(map.has(to)).toBe(model.has(to));
      }),
      { numRuns: 40 },
    );
  });

  it('takes keys in order and backwards, and stops when told', () => {
    const map = new SortedMap<number>();
    for (let i = 0; i < 3000; i++) map.set(String(i).padStart(5, '0'), i);
    for (let i = 5999; i >= 3000; i--) map.set(String(i).padStart(5, '0'), i);
    expect(map.values()).toEqual(Array.from({ length: 6000 }, (_, i) => i));
    let visited = 0;
    map.scan('', undefined, () => ++visited < 10);
    expect(visited).toBe(10);
    map.clear();
    expect([map.size, map.values()]).toEqual([0, []]);
  });
});
