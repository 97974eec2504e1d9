// What a candidate asks of its lock, and what it does not ask.
import { getEventListeners } from 'node:events';
import { silentLogger, VirtualClock } from '@kube-rx/apimachinery';
import { beforeEach, describe, expect, it } from 'vitest';
import { MemoryApi } from '../../test/support/memory-api.ts';
import { RestClient } from '../rest/rest-client.ts';
import type { Fence } from './fence.ts';
import { LeaderElector } from './leader-elector.ts';
import { LeaseLock } from './lease-lock.ts';

const LEASES = '/apis/coordination.k8s.io/v1/namespaces/kube-system/leases';
const lease = (holderIdentity: string, renewTime = '2020-01-01T00:00:00.000000Z') => ({
  metadata: { name: 'op' },
  spec: { holderIdentity, leaseDurationSeconds: 15, acquireTime: renewTime, renewTime, leaseTransitions: 4 },
});

describe('a candidate', () => {
  let api: MemoryApi;
  let clock: VirtualClock;
  let abort: AbortController;
  let elector: LeaderElector;
  let done: Promise<unknown>;
  let led: number;
  beforeEach(() => {
    api = new MemoryApi();
    clock = new VirtualClock();
    abort = new AbortController();
    led = 0;
    const rest = new RestClient({ server: 'http://api.test', transport: api, clock, maxRetries: 0 });
    const lock = new LeaseLock(rest, { name: 'op', namespace: 'kube-system' });
    elector = new LeaderElector({ lock, identity: 'a', clock, random: () => 0 });
  });
  const stand = (): void => {
    done = elector.whileLeader(
      (leading) => {
        led++;
        return new Promise<void>((resolve) => leading.addEventListener('abort', () => resolve(), { once: true }));
      },
      { signal: abort.signal },
    );
  };
  const methods = (): string => api.requests.map(({ method }) => method).join(' ');

  it('leaves a lock alone that it never wrote, also when it goes', async () => {
    api.put(LEASES, lease('other'));
    stand();
    await clock.advance(4000);
    abort.abort();
    await done;
    expect(methods()).toBe('GET GET GET');
  });

  it('asks nothing more when it goes while it only looks, whether it has led before or not', async () => {
    const look = (): void => {
      api.intercept = (_request, signal) =>
        new Promise((_resolve, reject) =>
          signal?.addEventListener('abort', () => reject(signal.reason), { once: true }),
        );
    };
    look();
    stand();
    await clock.advance(0);
    abort.abort();
    await done;
    expect(methods()).toBe('GET');
    // The same after a term that somebody else has ended.
    abort = new AbortController();
    const rest = new RestClient({ server: 'http://api.test', transport: api, clock, maxRetries: 0 });
    const lock = new LeaseLock(rest, { name: 'op', namespace: 'kube-system' });
    elector = new LeaderElector({ lock, identity: 'a', clock, random: () => 0 });
    api.intercept = undefined;
    stand();
    await clock.advance(1000);
    api.put(LEASES, lease('thief'));
    await clock.advance(1500);
    expect([led, elector.state.phase]).toEqual([1, 'candidate']);
    look();
    await clock.advance(2000);
    const before = api.requests.length;
    abort.abort();
    await done;
    expect(api.requests.slice(before)).toEqual([]);
    expect(api.requests.at(-1)?.method).toBe('GET');
  });

  it('leaves a lock alone whose write was refused', async () => {
    api.put(LEASES, lease(''));
    api.intercept = ({ method }) => {
      if (method === 'PUT') api.put(LEASES, lease('faster'));
      return undefined;
    };
    stand();
    await clock.advance(1000);
    abort.abort();
    await done;
    expect(methods()).toBe('GET PUT');
    expect(led).toBe(0);
  });

  it('asks nothing more after a renewal that was cut off', async () => {
    stand();
    await clock.advance(1000);
    const before = api.requests.length;
    api.intercept = (_request, signal) =>
      new Promise((_resolve, reject) => signal?.addEventListener('abort', () => reject(signal.reason), { once: true }));
    await clock.advance(10_500);
    // The renewal that hung until the deadline, and the first try of the candidate it became.
    expect(api.requests.slice(before).map(({ method }) => method)).toEqual(['PUT', 'PUT']);
    expect(elector.state.phase).toBe('candidate');
    api.intercept = undefined;
    abort.abort();
    await done;
    expect(clock.pendingTimers).toBe(0);
  });

  it('says who holds the lock, whenever that changes', async () => {
    const leaders: string[] = [];
    elector.state$.subscribe(({ leader }) => {
      if (leaders.at(-1) !== leader) leaders.push(leader);
    });
    api.put(LEASES, lease('x'));
    stand();
    await clock.advance(2000);
    api.put(LEASES, lease('y', '2020-01-01T00:00:05.000000Z'));
    await clock.advance(2000);
    expect([elector.state, leaders]).toEqual([{ phase: 'candidate', leader: 'y' }, ['', 'x', 'y']]);
    api.put(LEASES, lease('', '2020-01-01T00:00:06.000000Z'));
    await clock.advance(2000);
    expect([elector.state.phase, leaders.at(-1)]).toEqual(['leading', 'a']);
    abort.abort();
    await done;
    expect(leaders.at(-1)).toBe('');
  });

  it('says that it steps down, not that it leads, while work that lost the lock comes to its end', async () => {
    const warnings: string[] = [];
    const logger = { ...silentLogger, warn: (message: string) => void warnings.push(message) };
    const rest = new RestClient({ server: 'http://api.test', transport: api, clock, maxRetries: 0 });
    const lock = new LeaseLock(rest, { name: 'op', namespace: 'kube-system' });
    elector = new LeaderElector({ lock, identity: 'a', clock, random: () => 0, logger });
    let end: (how: 'end' | 'fail') => void = () => undefined;
    done = elector.whileLeader(
      () =>
        new Promise<void>((resolve, reject) => {
          end = (how) => (how === 'end' ? resolve() : reject(new Error('too late')));
        }),
      { signal: abort.signal },
    );
    for (const how of ['end', 'fail'] as const) {
      await clock.advance(1000);
      expect(elector.state.phase).toBe('leading');
      api.put(LEASES, lease('thief', `2020-01-01T00:00:0${how === 'end' ? 1 : 2}.000000Z`));
      await clock.advance(2000);
      expect(elector.state).toMatchObject({ phase: 'stepping-down', leader: 'thief' });
      expect(elector.isHealthy()).toBe(true);
      api.put(LEASES, lease('', '2020-01-01T00:00:09.000000Z'));
      end(how);
      await clock.advance(2500);
    }
    // What the work throws when its leadership has ended already is for the log.
    expect(warnings).toEqual(['leadership lost', 'leadership lost', 'work failed while it was ended']);
    abort.abort();
    end('end');
    await done;
    expect(clock.pendingTimers).toBe(0);
  });

  it('releases the lock of work that ends while a renewal is on its way, and its fence is over', async () => {
    let finish: () => void = () => undefined;
    let kept: Fence | undefined;
    done = elector.whileLeader(
      (_leading, fence) => {
        kept = fence;
        return new Promise<void>((resolve) => {
          finish = resolve;
        });
      },
      { signal: abort.signal },
    );
    await clock.advance(1000);
    api.intercept = (request, signal) => {
      const { spec } = request.body as { readonly spec: { readonly holderIdentity: string } };
      if (request.method !== 'PUT' || spec.holderIdentity === '') return undefined;
      return new Promise((_resolve, reject) =>
        signal?.addEventListener('abort', () => reject(signal.reason), { once: true }),
      );
    };
    await clock.advance(1500);
    expect([methods(), kept?.isValid()]).toEqual(['GET POST PUT', true]);
    finish();
    api.intercept = undefined;
    await done;
    expect(methods()).toBe('GET POST PUT GET PUT');
    expect(api.read(`${LEASES}/op`)?.spec).toMatchObject({ holderIdentity: '' });
    expect(kept?.isValid()).toBe(false);
    expect(getEventListeners(abort.signal, 'abort')).toEqual([]);
  });

  it('listens once to its signal, however often it tries', async () => {
    api.put(LEASES, lease('other'));
    let count = 0;
    api.intercept = () => {
      count = Math.max(count, getEventListeners(abort.signal, 'abort').length);
      api.put(LEASES, lease('other', `2020-01-01T00:00:${String(api.requests.length % 60).padStart(2, '0')}.000000Z`));
      return undefined;
    };
    stand();
    await clock.advance(60_000);
    expect(api.requests.length).toBeGreaterThan(20);
    expect(count).toBeLessThanOrEqual(2);
    abort.abort();
    await done;
    expect(getEventListeners(abort.signal, 'abort')).toEqual([]);
  });
});
