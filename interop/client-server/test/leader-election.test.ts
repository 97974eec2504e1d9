// Two candidates and a Lease on the server.
import { sleep } from '@kube-rx/apimachinery';
import type { Fence } from '@kube-rx/informer';
import { elect, Leases } from '@kube-rx/informer';
import { describe, expect, it } from 'vitest';
import { FaultyTransport } from './support/faulty-transport.ts';
import type { Pair } from './support/pair.ts';
import { advanceUntil, rest, startPair } from './support/pair.ts';
import { seeded } from './support/random.ts';

function candidate(pair: Pair, identity: string, fences: Fence[], client = pair.client) {
  const abort = new AbortController();
  const election = elect(client, {
    lease: { name: 'op', namespace: 'kube-system' },
    identity,
    signal: abort.signal,
    random: seeded(1),
  });
  const done = election.whileLeader(async (leading, fence) => {
    fences.push(fence);
    await sleep(pair.clock, 10 ** 9, { signal: leading }).catch(() => {});
  });
  return { election, abort, done };
}

describe('leader election against the server', () => {
  it('has one leader, hands over at a release, and counts terms', async () => {
    await using pair = await startPair();
    await pair.createNamespace('kube-system');
    const fences: Fence[] = [];
    const a = candidate(pair, 'a', fences);
    await advanceUntil(pair.clock, () => fences.length === 1);
    const b = candidate(pair, 'b', fences);
    for (let second = 0; second < 60; second++) {
      await pair.clock.advance(1000);
      await rest(2);
    }
    expect(fences.map(({ identity, term }) => `${identity} ${term}`)).toEqual(['a 0']);
    expect(b.election.state).toEqual({ phase: 'candidate', leader: 'a' });
    a.abort.abort();
    await advanceUntil(pair.clock, () => fences.length === 2, { maxMs: 5000 });
    await a.done;
    expect(fences.map(({ identity, term }) => `${identity} ${term}`)).toEqual(['a 0', 'b 1']);
    b.abort.abort();
    await rest();
    await b.done;
    const lease = await pair.client.resource(Leases, 'kube-system').get('op');
    expect(lease.spec).toMatchObject({ holderIdentity: '', leaseDurationSeconds: 1, leaseTransitions: 1 });
  });

  it('never has two leaders while a network fails and the server restarts', async () => {
    await using pair = await startPair();
    await pair.createNamespace('kube-system');
    const fences: Fence[] = [];
    const networks = [3, 4, 5].map(
      (seed) => new FaultyTransport({ inner: pair.transport, clock: pair.clock, random: seeded(seed) }),
    );
    const candidates = networks.map((transport, index) =>
      candidate(pair, `c${index}`, fences, pair.connect({ transport })),
    );
    for (let second = 0; second < 600; second++) {
      if (second % 100 === 99) await pair.server.restart();
      await pair.clock.advance(1000);
      await rest(2);
      expect(fences.filter((fence) => fence.isValid()).length).toBeLessThanOrEqual(1);
    }
    expect(fences.length).toBeGreaterThan(1);
    for (const network of networks) network.active = false;
    await advanceUntil(pair.clock, () => fences.some((fence) => fence.isValid()), { maxMs: 60_000 });
    for (const { abort } of candidates) abort.abort();
    let ended = false;
    void Promise.all(candidates.map(({ done }) => done)).then(() => {
      ended = true;
    });
    await advanceUntil(pair.clock, () => ended, { maxMs: 60_000 });
  });
});
