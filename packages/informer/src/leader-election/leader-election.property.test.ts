// Safety and liveness under random faults: requests and answers that get lost or late, candidates that leave.
import { newConflict, sleep, VirtualClock } from '@kube-rx/apimachinery';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { LeaderElectionRecord } from './election-record.ts';
import type { Fence } from './fence.ts';
import { LeaderElector } from './leader-elector.ts';
import type { ElectionLock } from './lease-lock.ts';

/** The stored lock; each candidate has its own view of it, over a network that does what `fault` says. */
class LockServer {
  record: LeaderElectionRecord | undefined;
  version = 0;
  readonly #clock: VirtualClock;
  readonly #fault: () => number;

  constructor(clock: VirtualClock, fault: () => number) {
    this.#clock = clock;
    this.#fault = fault;
  }

  client(): ElectionLock {
    // The version the candidate knows: moves only when an answer arrives.
    let seen = 0;
    const write = (verb: 'create' | 'update') => async (record: LeaderElectionRecord, signal: AbortSignal) => {
      seen = await this.#over(signal, () => {
        const stale = verb === 'create' ? this.record !== undefined : seen !== this.version;
        if (stale) throw newConflict({ group: '', resource: 'leases' }, 'op', 'changed');
        this.record = record;
        return ++this.version;
      });
    };
    const read = (signal: AbortSignal) => this.#over(signal, () => ({ version: this.version, record: this.record }));
    return {
      description: 'op',
      async get(signal) {
        const { version, record } = await read(signal);
        seen = version;
        return record && { record, raw: `${version}` };
      },
      create: write('create'),
      update: write('update'),
    };
  }

  async #over<R>(signal: AbortSignal, run: () => R): Promise<R> {
    const fault = this.#fault();
    if (fault === 1) throw new Error('request lost');
    if (fault === 2) await sleep(this.#clock, 4000, { signal });
    if (fault === 3) await sleep(this.#clock, 3_600_000, { signal });
    await sleep(this.#clock, 5, { signal });
    const answer = run();
    if (fault === 4) throw new Error('answer lost');
    if (fault === 5) await sleep(this.#clock, 9000, { signal });
    return answer;
  }
}

describe('leader election under faults', () => {
  it('never has two valid fences, never gives a term to two candidates or lowers it, and has a leader soon after the faults end', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.infiniteStream(
          fc.oneof({ weight: 6, arbitrary: fc.constant(0) }, { weight: 4, arbitrary: fc.integer({ min: 1, max: 5 }) }),
        ),
        fc.infiniteStream(fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true })),
        fc.array(
          fc.record({
            leavesAfterMs: fc.integer({ min: 0, max: 120_000 }),
            endsAfterMs: fc.integer({ min: 0, max: 4000 }),
          }),
          {
            minLength: 1,
            maxLength: 3,
          },
        ),
        async (faults, draws, leavers) => {
          const clock = new VirtualClock();
          let faulty = true;
          const server = new LockServer(clock, () => (faulty ? faults.next().value! : 0));
          const fences = new Set<Fence>();
          let last: Fence | undefined;
          const aborts: AbortController[] = [];
          const join = (identity: string, endsAfterMs: number): Promise<unknown> => {
            const abort = new AbortController();
            aborts.push(abort);
            const elector = new LeaderElector({
              lock: server.client(),
              identity,
              clock,
              random: () => draws.next().value!,
            });
            return elector.whileLeader(
              async (leading, fence) => {
                for (const other of fences) expect(other.isValid()).toBe(false);
                // A holder that takes its own lock again, after its work has ended, stays in its term.
                if (last !== undefined && last.identity !== identity) expect(fence.term).toBeGreaterThan(last.term);
                expect(fence.term).toBeGreaterThanOrEqual(last?.term ?? 0);
                last = fence;
                fences.add(fence);
                await new Promise<void>((resolve) =>
                  leading.addEventListener('abort', () => resolve(), { once: true }),
                );
                await sleep(clock, endsAfterMs);
              },
              { signal: abort.signal },
            );
          };
          const running = [...leavers.entries()].map(([index, { leavesAfterMs, endsAfterMs }]) => {
            const done = join(`leaver-${index}`, endsAfterMs);
            clock.setTimer(() => aborts[index]!.abort(), leavesAfterMs);
            return done;
          });
          running.push(join('stayer-1', 100), join('stayer-2', 100));
          for (let step = 0; step < 200; step++) {
            await clock.advance(1000);
            expect([...fences].filter((fence) => fence.isValid()).length).toBeLessThanOrEqual(1);
          }
          faulty = false;
          // A lease that was taken last by one whose answer got lost, and the longest wait of a candidate.
          await clock.advance(15_000 + 2 * 4400);
          expect([...fences].filter((fence) => fence.isValid())).toHaveLength(1);
          for (const abort of aborts) abort.abort();
          await clock.advance(30_000);
          await Promise.all(running);
          expect(server.record?.holderIdentity).toBe('');
          expect(clock.pendingTimers).toBe(0);
        },
      ),
      { numRuns: 40 },
    );
  }, 60_000);
});
