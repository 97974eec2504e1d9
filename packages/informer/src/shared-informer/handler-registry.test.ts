// Who is due for a resync, and how a handler's period changes that of all.
// Upstream test: client-go@v0.30.3:tools/cache/shared_informer_test.go#TestResyncCheckPeriod,TestListenerResyncPeriods
import { getEventListeners } from 'node:events';
import { VirtualClock } from '@kube-rx/apimachinery';
import { beforeEach, describe, expect, it } from 'vitest';
import { object, type TestObject } from '../../test/support/scripted-lister-watcher.ts';
import type { Live } from '../rest/resource-type.ts';
import type { HandlerOptions } from './event-handler.ts';
import { HandlerRegistry, type HandlerRegistryOptions } from './handler-registry.ts';
import { WaitSet } from './wait-set.ts';

const MINUTE = 60_000;
const a = object('a@5') as Live<TestObject>;

describe('HandlerRegistry', () => {
  let clock: VirtualClock;
  let running: boolean;
  let told: Record<string, number>;
  let waits: WaitSet;
  beforeEach(() => {
    clock = new VirtualClock();
    running = false;
    told = {};
    waits = new WaitSet();
  });

  const open = (options: Partial<HandlerRegistryOptions<TestObject>> = {}): HandlerRegistry<TestObject> =>
    new HandlerRegistry<TestObject>({
      clock,
      parity: false,
      emitUnchanged: false,
      resyncMs: 0,
      buffer: undefined,
      onError: undefined,
      waits,
      hasSynced: () => true,
      isRunning: () => running,
      storeContent: () => [],
      synced: () => undefined,
      report: () => undefined,
      stopInformer: () => undefined,
      ...options,
    });
  const join = (registry: HandlerRegistry<TestObject>, name: string, options: HandlerOptions = {}) => {
    told[name] = 0;
    return registry.register(
      () => {
        told[name] = (told[name] ?? 0) + 1;
      },
      { name, ...options },
    );
  };
  /** Lets one period of the reflector's timer pass, and what it causes. */
  const tick = (registry: HandlerRegistry<TestObject>): boolean => {
    clock.advanceSync(registry.resyncCheckPeriodMs);
    const due = registry.shouldResync();
    if (due) registry.distribute({ type: 'updated', object: a, previous: a, recreated: false, cause: 'resync' }, true);
    return due;
  };

  it('looks as often as its most frequent handler wants, and gives each its own period', () => {
    const registry = open({ resyncMs: 60 * MINUTE });
    expect(registry.resyncCheckPeriodMs).toBe(60 * MINUTE);
    join(registry, 'never', { resyncMs: 0 });
    expect(registry.resyncCheckPeriodMs).toBe(60 * MINUTE);
    join(registry, 'default');
    join(registry, 'minute', { resyncMs: MINUTE });
    expect(registry.resyncCheckPeriodMs).toBe(MINUTE);
    join(registry, 'often', { resyncMs: MINUTE / 2 });
    expect(registry.resyncCheckPeriodMs).toBe(MINUTE / 2);
    join(registry, 'same', { resyncMs: MINUTE / 2 });
    for (let count = 0; count < 240; count++) expect(tick(registry)).toBe(true);
    expect(told).toEqual({ never: 0, default: 2, minute: 120, often: 240, same: 240 });
  });

  it('counts the period of a handler from when it came', () => {
    const registry = open({ resyncMs: MINUTE });
    join(registry, 'first');
    clock.advanceSync(MINUTE / 2);
    running = true;
    join(registry, 'second');
    clock.advanceSync(MINUTE / 2);
    registry.shouldResync();
    registry.distribute({ type: 'updated', object: a, previous: a, recreated: false, cause: 'resync' }, true);
    expect(told).toEqual({ first: 1, second: 0 });
  });

  it('does not look more often once it runs: a shorter period is raised to the pace of all', () => {
    const registry = open({ resyncMs: MINUTE });
    join(registry, 'default');
    running = true;
    join(registry, 'eager', { resyncMs: 5000 });
    expect(registry.resyncCheckPeriodMs).toBe(MINUTE);
    for (let count = 0; count < 4; count++) tick(registry);
    expect(told).toEqual({ default: 4, eager: 4 });
  });

  it('never looks where nobody resyncs, also when one comes who would', () => {
    const registry = open();
    running = true;
    join(registry, 'late', { resyncMs: MINUTE });
    expect([registry.resyncCheckPeriodMs, registry.shouldResync()]).toEqual([0, false]);
    clock.advanceSync(10 * MINUTE);
    expect(registry.shouldResync()).toBe(false);
  });

  it('raises a period below a second to it', () => {
    const registry = open({ resyncMs: MINUTE });
    join(registry, 'hasty', { resyncMs: 10 });
    expect(registry.resyncCheckPeriodMs).toBe(1000);
  });

  it('tells what did not change to those alone who are due', () => {
    const registry = open({ resyncMs: MINUTE });
    join(registry, 'quiet', { resyncMs: 0 });
    join(registry, 'due');
    const unchanged = { type: 'updated', object: a, previous: a, recreated: false, cause: 'list' } as const;
    registry.distribute(unchanged, true);
    expect(told).toEqual({ quiet: 0, due: 0 });
    tick(registry);
    registry.distribute(unchanged, true);
    expect(told).toEqual({ quiet: 0, due: 2 });
    registry.distribute(unchanged, false);
    expect(told).toEqual({ quiet: 1, due: 3 });
    // As upstream does before the first look.
    const parity = open({ resyncMs: MINUTE, emitUnchanged: true });
    join(parity, 'everybody', { resyncMs: 0 });
    parity.distribute(unchanged, true);
    expect(told['everybody']).toBe(1);
  });

  it('refuses a bound that no handler can have, its own and that of a handler', () => {
    expect(() => open({ buffer: { max: 0, overflow: 'conflate' } })).toThrow(/max/);
    expect(() => join(open(), 'h', { buffer: { max: 0, overflow: 'conflate' } })).toThrow(/max/);
    expect(() => join(open(), 'h', { buffer: { max: 5, overflow: 'block' } })).toThrow(/overflow/);
  });

  it('removes a handler with its signal, and then listens to it no more', async () => {
    const registry = open();
    const controller = new AbortController();
    const kept = join(registry, 'kept', { signal: controller.signal });
    await kept.remove();
    expect(getEventListeners(controller.signal, 'abort')).toEqual([]);
    join(registry, 'gone', { signal: controller.signal });
    expect(registry.inspect().map(({ name }) => name)).toEqual(['gone']);
    controller.abort();
    expect(registry.inspect()).toEqual([]);
    join(registry, 'late', { signal: controller.signal });
    expect(registry.inspect()).toEqual([]);
  });

  it('ends the wait for a handler that is removed before it has synced', async () => {
    const registry = open({ hasSynced: () => false });
    const registration = join(registry, 'h');
    const wait = registration.whenSynced();
    await registration.remove();
    await expect(wait).rejects.toMatchObject({ code: 'NOT_SYNCED' });
  });
});
