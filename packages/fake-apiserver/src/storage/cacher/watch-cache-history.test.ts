// Upstream test: apiserver@v0.30.3:pkg/storage/cacher/watch_cache_test.go#TestDynamicCache
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { StoredObject } from '../stored-object.ts';
import { StoreElement } from './store-element.ts';
import { WatchCacheEvent } from './watch-cache-event.ts';
import { WatchCacheHistory } from './watch-cache-history.ts';
import { HistoryInterval } from './watch-cache-interval.ts';

const FRESH_MS = 75_000;
const eventAt = (revision: number, timeMs: number): WatchCacheEvent => {
  const object = { apiVersion: 'v1', kind: 'Pod', metadata: {} };
  return new WatchCacheEvent('ADDED', new StoreElement(new StoredObject('k', object, revision)), undefined, timeMs);
};
const history = (lower: number, upper: number): WatchCacheHistory =>
  new WatchCacheHistory({ lowerBoundCapacity: lower, upperBoundCapacity: upper, eventFreshDurationMs: FRESH_MS });
const revisions = (ring: WatchCacheHistory): number[] => {
  const found: number[] = [];
  for (let index = ring.start; index < ring.end; index++) found.push(ring.at(index).revision);
  return found;
};

describe('WatchCacheHistory', () => {
  it('doubles while its oldest event is young, and evicts nothing then', () => {
    const ring = history(100, 102_400);
    for (let i = 0; i < 1000; i++) expect(ring.push(eventAt(i + 1, i * 10))).toBe(false);
    expect([ring.capacity, ring.size]).toEqual([1600, 1000]);
  });

  it('halves when all of it is old, and evicts one more for the new event', () => {
    const ring = history(100, 102_400);
    for (let i = 0; i < 1600; i++) ring.push(eventAt(i + 1, i));
    expect([ring.capacity, ring.size]).toEqual([1600, 1600]);
    expect(ring.push(eventAt(1601, 1600 + FRESH_MS + 1))).toBe(true);
    expect([ring.capacity, ring.size, ring.oldest?.revision]).toEqual([800, 800, 802]);
  });

  it('evicts without shrinking while its newest quarter is young', () => {
    const ring = history(4, 8);
    for (let i = 0; i < 8; i++) ring.push(eventAt(i + 1, i < 6 ? 0 : FRESH_MS));
    expect(ring.push(eventAt(9, FRESH_MS + 1))).toBe(true);
    expect([ring.capacity, revisions(ring)]).toEqual([8, [2, 3, 4, 5, 6, 7, 8, 9]]);
  });

  it('evicts young events only at its upper bound', () => {
    const ring = history(2, 4);
    for (let i = 0; i < 6; i++) ring.push(eventAt(i + 1, 0));
    expect([ring.capacity, revisions(ring)]).toEqual([4, [3, 4, 5, 6]]);
  });

  it('holds what an array that follows the same rule holds', () => {
    const step = fc.record({ waitMs: fc.constantFrom(0, 1, 1000, 20_000, FRESH_MS, 200_000), clear: fc.boolean() });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 200 }), (steps) => {
        const ring = history(4, 16);
        let model: WatchCacheEvent[] = [];
        let capacity = 4;
        let evicted = 0;
        let now = 0;
        steps.forEach(({ waitMs, clear }, index) => {
          now += waitMs;
          if (clear && index % 37 === 0) {
            ring.clear();
            evicted += model.length;
            model = [];
          }
          const event = eventAt(index + 1, now);
          if (model.length === capacity) {
            if (now - model[0]!.recordTimeMs < FRESH_MS) capacity = Math.min(capacity * 2, 16);
            else if (now - model[model.length - capacity / 4]!.recordTimeMs > FRESH_MS)
              capacity = Math.max(capacity / 2, 4);
          }
          model.push(event);
          while (model.length > capacity) {
            model.shift();
            evicted++;
          }
          ring.push(event);
          expect(ring.capacity).toBe(capacity);
          expect(revisions(ring)).toEqual(model.map(({ revision }) => revision));
          expect(ring.start).toBe(evicted);
          const asked = Math.floor(index / 2);
          expect(ring.end - ring.firstAfter(asked)).toBe(model.filter(({ revision }) => revision > asked).length);
        });
      }),
    );
  });
});

describe('HistoryInterval', () => {
  it('reads every event after its start once, or says that it was overrun', () => {
    const steps = fc.array(fc.oneof(fc.constant('read' as const), fc.constant('push' as const)), { maxLength: 120 });
    fc.assert(
      fc.property(steps, fc.nat({ max: 10 }), fc.integer({ min: 1, max: 5 }), (actions, asked, bufferSize) => {
        const ring = history(4, 8);
        let revision = 0;
        const push = (): void => {
          ring.push(eventAt(++revision, revision * 10_000));
        };
        for (let i = 0; i < 6; i++) push();
        const oldest = ring.oldest!.revision;
        const interval = new HistoryInterval(ring, ring.firstAfter(asked), asked, bufferSize);
        const last = revision;
        let expected = Math.max(asked + 1, oldest);
        for (const action of actions) {
          if (action === 'push') {
            push();
            continue;
          }
          const item = interval.next();
          if (item === 'overrun') {
            expect(ring.oldest!.revision).toBeGreaterThan(expected);
            return;
          }
          if (item === undefined) {
            expect(expected).toBeGreaterThan(last);
            return;
          }
          expect(item.revision).toBe(expected++);
        }
      }),
    );
  });
});
