import { newInternalError, settle, VirtualClock } from '@kube-rx/apimachinery';
import { describe, expect, it } from 'vitest';
import { MemoryApi } from '../../test/support/memory-api.ts';
import { jsonResponse } from '../../test/support/memory-body.ts';
import { TransportError } from '../errors.ts';
import { RestClient } from '../rest/rest-client.ts';
import type { Transport } from '../rest/transport.ts';
import { elect } from './elect.ts';
import { guardWrites, LeadershipLostError } from './fence.ts';
import type { LeaderElectorOptions } from './leader-elector.ts';
import { LeaderElector } from './leader-elector.ts';
import { LeaseLock } from './lease-lock.ts';

const LEASES = '/apis/coordination.k8s.io/v1/namespaces/kube-system/leases';
const LEASE = `${LEASES}/op`;

function setUp() {
  const api = new MemoryApi();
  const clock = new VirtualClock();
  const rest = new RestClient({ server: 'http://api.test', transport: api, clock, maxRetries: 0 });
  const start = clock.now();
  const log: string[] = [];
  const now = () => (clock.now() - start) / 1000;
  const candidate = (identity: string, options: Partial<LeaderElectorOptions> = {}) => {
    const abort = new AbortController();
    const lock = new LeaseLock(rest, { name: 'op', namespace: 'kube-system' });
    const elector = new LeaderElector({ lock, identity, clock, random: () => 0, ...options });
    const done = elector.whileLeader(
      (leading, fence) =>
        new Promise<void>((resolve) => {
          log.push(`${identity} leads term ${fence.term} at ${now()}`);
          leading.addEventListener('abort', () => {
            log.push(`${identity} stops at ${now()}`);
            resolve();
          });
        }),
      { signal: abort.signal },
    );
    return { elector, abort, done };
  };
  const spec = () => api.read(LEASE)?.spec as Record<string, unknown> | undefined;
  return { api, clock, rest, log, now, candidate, spec };
}

const held = (holderIdentity: string, leaseDurationSeconds: number, renewTime = '2020-01-01T00:00:00.000000Z') => ({
  metadata: { name: 'op' },
  spec: { holderIdentity, leaseDurationSeconds, acquireTime: renewTime, renewTime, leaseTransitions: 4 },
});

describe('LeaderElector', () => {
  it('creates the lock, renews it every retry period and releases it when its signal aborts', async () => {
    const { api, clock, candidate, log, spec } = setUp();
    const a = candidate('a');
    await clock.advance(0);
    expect(spec()).toEqual({
      holderIdentity: 'a',
      leaseDurationSeconds: 15,
      acquireTime: '2024-01-01T00:00:00.000000Z',
      renewTime: '2024-01-01T00:00:00.000000Z',
      leaseTransitions: 0,
    });
    await clock.advance(4000);
    expect(spec()).toMatchObject({
      acquireTime: '2024-01-01T00:00:00.000000Z',
      renewTime: '2024-01-01T00:00:04.000000Z',
    });
    expect(api.requests.map((request) => request.method)).toEqual(['GET', 'POST', 'PUT', 'PUT']);
    expect(a.elector.state.phase).toBe('leading');
    a.abort.abort();
    expect(await a.done).toBeUndefined();
    expect(spec()).toMatchObject({ holderIdentity: '', leaseDurationSeconds: 1, leaseTransitions: 0 });
    expect(log).toEqual(['a leads term 0 at 0', 'a stops at 4']);
    expect(a.elector.state).toEqual({ phase: 'stopped', leader: '' });
    expect(clock.pendingTimers).toBe(0);
  });

  it('I-48 kubernetes#91966: a release is written after the work has ended, and handed over within a retry period in a new term', async () => {
    const { api, clock, candidate, log } = setUp();
    const a = candidate('a');
    await clock.advance(500);
    const b = candidate('b');
    await clock.advance(9500);
    const written: unknown[] = [];
    api.intercept = ({ method, body }) => {
      const { spec: next } = (body ?? {}) as { readonly spec?: { readonly holderIdentity?: string } };
      if (method === 'PUT' && next?.holderIdentity === '') written.push(log.at(-1), a.elector.state.phase, next);
      return undefined;
    };
    a.abort.abort();
    await clock.advance(2000);
    expect(written).toEqual([
      'a stops at 10',
      'stepping-down',
      expect.objectContaining({ holderIdentity: '', leaseDurationSeconds: 1 }),
    ]);
    expect(log).toEqual(['a leads term 0 at 0', 'a stops at 10', 'b leads term 1 at 10.5']);
    b.abort.abort();
    await b.done;
  });

  it('I-46 client-go#448: a candidate waits a whole lease of observed silence, whatever the times in the record say', async () => {
    const { api, clock, candidate, log } = setUp();
    api.put(LEASES, held('old', 15));
    const a = candidate('a');
    await clock.advance(30_000);
    expect(log).toEqual(['a leads term 5 at 16']);
    a.abort.abort();
    await a.done;
  });

  it('I-47 kubernetes#47671: the duration in the record counts, not that of a candidate', async () => {
    const { api, clock, candidate, log } = setUp();
    api.put(LEASES, held('long', 30));
    const a = candidate('a', { leaseDurationMs: 10_000, renewDeadlineMs: 6000 });
    for (let round = 1; round <= 6; round++) {
      await clock.advance(20_000);
      api.put(LEASES, held('long', 30, `2020-01-01T00:00:0${round}.000000Z`));
    }
    expect(log).toEqual([]);
    await clock.advance(32_000);
    expect(log).toEqual(['a leads term 5 at 152']);
    a.abort.abort();
    await a.done;
  });

  it('O-04 kubernetes-leader-election: a lease without a duration is waited for as if it were ours', async () => {
    const { api, clock, candidate, log } = setUp();
    const { leaseDurationSeconds: _, ...spec } = held('misspelt', 15).spec;
    api.put(LEASES, { metadata: { name: 'op' }, spec });
    const a = candidate('a');
    await clock.advance(15_999);
    expect(log).toEqual([]);
    await clock.advance(1);
    expect(log).toEqual(['a leads term 5 at 16']);
    a.abort.abort();
    await a.done;
  });

  it('stops leading at the renew deadline when the server fails, and stands again', async () => {
    const { api, clock, candidate, log } = setUp();
    const a = candidate('a');
    await clock.advance(5000);
    api.intercept = () => jsonResponse(500, newInternalError('down').status);
    await clock.advance(20_000);
    expect(log).toEqual(['a leads term 0 at 0', 'a stops at 14']);
    expect(a.elector.state.phase).toBe('candidate');
    api.intercept = undefined;
    await clock.advance(2000);
    expect(log.at(-1)).toBe('a leads term 0 at 26');
    a.abort.abort();
    await a.done;
  });

  it('stops leading at the renew deadline when a request hangs', async () => {
    const { api, clock, candidate, log } = setUp();
    const a = candidate('a');
    await clock.advance(3000);
    api.intercept = (_request, signal) =>
      new Promise((_resolve, reject) => signal?.addEventListener('abort', () => reject(signal.reason), { once: true }));
    await clock.advance(9000);
    expect(log).toEqual(['a leads term 0 at 0', 'a stops at 12']);
    api.intercept = undefined;
    a.abort.abort();
    await a.done;
    expect(clock.pendingTimers).toBe(0);
  });

  it('stops at once when somebody else took the lock', async () => {
    const { api, clock, candidate, log } = setUp();
    const a = candidate('a');
    await clock.advance(3000);
    api.put(LEASES, held('thief', 15));
    await clock.advance(1000);
    expect(log).toEqual(['a leads term 0 at 0', 'a stops at 4']);
    expect(a.elector.state).toEqual({ phase: 'candidate', leader: 'thief' });
    a.abort.abort();
    await a.done;
    expect(api.read(LEASE)?.spec).toMatchObject({ holderIdentity: 'thief' });
  });

  it('goes on in a new term when its lock was deleted or freed by hand', async () => {
    const { api, clock, candidate, log } = setUp();
    const a = candidate('a');
    await clock.advance(3000);
    api.remove(LEASE);
    await clock.advance(3000);
    expect(log).toEqual(['a leads term 0 at 0', 'a stops at 4', 'a leads term 1 at 4']);
    a.abort.abort();
    await a.done;
  });

  it('renews while the work comes to its end, and releases only then', async () => {
    const { clock, rest, api } = setUp();
    const abort = new AbortController();
    const election = elect(rest, {
      lease: { name: 'op', namespace: 'kube-system' },
      identity: 'a',
      signal: abort.signal,
    });
    const phases: string[] = [];
    election.state$.subscribe({ next: (state) => phases.push(state.phase), complete: () => phases.push('complete') });
    let finish: () => void = () => {};
    const done = election.whileLeader(
      () =>
        new Promise<void>((resolve) => {
          finish = resolve;
        }),
    );
    await clock.advance(1000);
    abort.abort();
    await clock.advance(6000);
    expect(api.read(LEASE)?.spec).toMatchObject({ holderIdentity: 'a', renewTime: '2024-01-01T00:00:06.000000Z' });
    finish();
    await done;
    expect(api.read(LEASE)?.spec).toMatchObject({ holderIdentity: '' });
    expect([...new Set(phases)]).toEqual(['idle', 'candidate', 'leading', 'stepping-down', 'stopped', 'complete']);
  });

  it('lets the lock run out instead of releasing it when the work does not end', async () => {
    const { clock, rest, api } = setUp();
    const abort = new AbortController();
    const election = elect(rest, {
      lease: { name: 'op', namespace: 'kube-system' },
      identity: 'a',
      signal: abort.signal,
      shutdownTimeoutMs: 3000,
    });
    let finish: () => void = () => {};
    const done = election.whileLeader(
      () =>
        new Promise<void>((resolve) => {
          finish = resolve;
        }),
    );
    await clock.advance(1000);
    abort.abort();
    await clock.advance(30_000);
    expect(api.read(LEASE)?.spec).toMatchObject({ holderIdentity: 'a', renewTime: '2024-01-01T00:00:02.000000Z' });
    finish();
    await done;
    expect(api.read(LEASE)?.spec).toMatchObject({ holderIdentity: 'a' });
    expect(clock.pendingTimers).toBe(0);
  });

  it('keeps the lock when told not to release it', async () => {
    const { clock, candidate, spec } = setUp();
    const a = candidate('a', { releaseOnCancel: false });
    await clock.advance(0);
    a.abort.abort();
    await a.done;
    expect(spec()).toMatchObject({ holderIdentity: 'a' });
  });

  it('ends with what the work ends with, and releases the lock', async () => {
    const { rest, api, clock } = setUp();
    const options = { lease: { name: 'op', namespace: 'kube-system' } };
    expect(await elect(rest, options).whileLeader((_leading, fence) => `term ${fence.term}`)).toBe('term 0');
    expect(api.read(LEASE)?.spec).toMatchObject({ holderIdentity: '' });
    await expect(elect({ rest }, options).whileLeader(() => Promise.reject(new Error('broken')))).rejects.toThrow(
      'broken',
    );
    expect(api.read(LEASE)?.spec).toMatchObject({ holderIdentity: '', leaseTransitions: 1 });
    expect(clock.pendingTimers).toBe(0);
  });

  it('gives back a lock that it won while its signal aborted', async () => {
    const { api, clock, candidate, log, spec } = setUp();
    let commit: () => void = () => {};
    api.intercept = async (request) => {
      if (request.method !== 'POST') return undefined;
      api.intercept = undefined;
      api.put(LEASES, request.body as never);
      await new Promise<void>((resolve) => {
        commit = resolve;
      });
      throw new TransportError('RESET', 'lost answer');
    };
    const a = candidate('a');
    await clock.advance(0);
    a.abort.abort();
    commit();
    await a.done;
    expect(log).toEqual([]);
    expect(spec()).toMatchObject({ holderIdentity: '' });
  });

  // Upstream test: client-go@v0.37.2:tools/leaderelection/leaderelection_test.go
  it('reads again and releases when somebody wrote the lock meanwhile, and leaves it when somebody took it', async () => {
    for (const [holder, left] of [
      ['a', ''],
      ['thief', 'thief'],
    ] as const) {
      const { api, clock, candidate, spec } = setUp();
      const a = candidate('a');
      await clock.advance(500);
      const before = api.requests.length;
      let writes = 0;
      api.intercept = ({ method }) => {
        if (method !== 'PUT' || writes++ > 1) return undefined;
        api.put(LEASES, {
          metadata: { name: 'op', labels: { round: `${writes}` } },
          spec: { ...spec(), holderIdentity: holder },
        });
        return undefined;
      };
      a.abort.abort();
      await clock.advance(100);
      await a.done;
      expect(spec()).toMatchObject({ holderIdentity: left });
      expect(api.read(LEASE)?.metadata.labels).toEqual({ round: holder === 'a' ? '2' : '1' });
      const methods = api.requests.slice(before).map((request) => request.method);
      expect(methods).toEqual(holder === 'a' ? ['GET', 'PUT', 'GET', 'PUT', 'GET', 'PUT'] : ['GET', 'PUT', 'GET']);
      expect(clock.pendingTimers).toBe(0);
    }
  });

  it('gives the release up after a renew deadline of conflicts', async () => {
    const { api, clock, candidate, spec } = setUp();
    const a = candidate('a');
    await clock.advance(500);
    api.intercept = ({ method }) => {
      if (method === 'PUT') api.put(LEASES, { metadata: { name: 'op' }, spec: { ...spec() } });
      return undefined;
    };
    let done = false;
    void a.done.then(() => {
      done = true;
    });
    a.abort.abort();
    await clock.advance(9_999);
    expect(done).toBe(false);
    await clock.advance(1);
    expect([done, spec()?.['holderIdentity'], clock.pendingTimers]).toEqual([true, 'a', 0]);
  });

  it('makes no request when its signal is aborted already, and runs once', async () => {
    const { api, candidate } = setUp();
    const a = candidate('a');
    await expect(a.elector.whileLeader(() => {})).rejects.toMatchObject({ code: 'ALREADY_STARTED' });
    a.abort.abort();
    await a.done;
    const abort = AbortSignal.abort();
    const before = api.requests.length;
    const lock = new LeaseLock(new RestClient({ server: 'http://api.test', transport: api }), {
      name: 'x',
      namespace: 'y',
    });
    expect(await new LeaderElector({ lock }).whileLeader(() => 'never', { signal: abort })).toBeUndefined();
    expect(api.requests).toHaveLength(before);
  });

  it('spreads its tries by up to 1.2 retry periods', async () => {
    const { api, clock, candidate, now } = setUp();
    api.put(LEASES, held('other', 3600));
    const at: number[] = [];
    api.intercept = () => void at.push(now());
    const draws = [0, 0.5, 1];
    const a = candidate('a', { random: () => draws.shift() ?? 0 });
    await clock.advance(11_000);
    expect(at).toEqual([0, 2, 5.2, 9.6]);
    a.abort.abort();
    await a.done;
  });

  it('is healthy until a leader has not renewed for a lease and the tolerance', async () => {
    const { api, clock, rest } = setUp();
    const abort = new AbortController();
    const election = elect(rest, { lease: { name: 'op', namespace: 'kube-system' }, signal: abort.signal });
    expect(election.isHealthy()).toBe(true);
    let finish: () => void = () => {};
    const done = election.whileLeader(
      () =>
        new Promise<void>((resolve) => {
          finish = resolve;
        }),
    );
    await clock.advance(0);
    api.intercept = () => jsonResponse(500, newInternalError('down').status);
    await clock.advance(15_000);
    expect(election.isHealthy()).toBe(true);
    await clock.advance(1);
    expect(election.isHealthy()).toBe(false);
    expect(election.isHealthy(1000)).toBe(true);
    abort.abort();
    finish();
    await done;
  });

  it.each([
    [{ renewDeadlineMs: 15_000 }, /renewDeadlineMs/],
    [{ retryPeriodMs: 9000 }, /renewDeadlineMs/],
    [{ retryPeriodMs: 0 }, /retryPeriodMs/],
    [{ leaseDurationMs: 500 }, /leaseDurationMs/],
    [{ identity: '' }, /identity/],
  ])('refuses %o', (options, message) => {
    const { rest } = setUp();
    expect(() => elect(rest, { lease: { name: 'a', namespace: 'b' }, ...options })).toThrow(message);
  });
});

describe('Fence', () => {
  it('ends with the leadership, at the latest a renew deadline after the last renewal', async () => {
    const { api, clock, rest } = setUp();
    const abort = new AbortController();
    const sent: string[] = [];
    await elect(rest, { lease: { name: 'op', namespace: 'kube-system' }, signal: abort.signal }).whileLeader(
      async (leading, fence) => {
        const inner: Transport = {
          async send({ method }) {
            sent.push(method);
            return jsonResponse(200, {});
          },
          close() {},
        };
        const guarded = guardWrites(inner, fence);
        const request = (method: string) =>
          guarded.send({ method, url: 'http://api.test/', headers: {}, purpose: 'call' });
        await request('PUT');
        expect(fence.validUntil - clock.now()).toBe(10_000);
        api.intercept = () => jsonResponse(500, newInternalError('down').status);
        // The process sleeps: time passes and no timer has fired yet.
        clock.advanceSync(10_000);
        expect(fence.isValid()).toBe(false);
        await expect(request('PUT')).rejects.toThrow(LeadershipLostError);
        await request('GET');
        await settle();
        await clock.advance(0);
        expect(leading.aborted).toBe(true);
        expect(leading.reason).toBeInstanceOf(LeadershipLostError);
        expect(() => fence.check()).toThrow(/no longer leads/);
        abort.abort();
      },
    );
    expect(sent).toEqual(['PUT', 'GET']);
  });
});
