import { newConflict, newNotFound, settle, VirtualClock } from '@kube-rx/apimachinery';
import { describe, expect, it } from 'vitest';
import { isWaitError } from '../errors.ts';
import { DEFAULT_BACKOFF, DEFAULT_RETRY, waits } from './backoff.ts';
import { poll } from './poll.ts';
import { retryOnConflict, retryOnError } from './retry.ts';

const conflict = () => newConflict({ group: '', resource: 'pods' }, 'a', 'changed');

describe('waits', () => {
  it('has one wait less than tries, and grows to its cap', () => {
    expect([...waits(DEFAULT_RETRY, () => 0)]).toEqual([10, 10, 10, 10]);
    expect([...waits(DEFAULT_BACKOFF, () => 0)]).toEqual([10, 50, 250]);
    expect([...waits({ steps: 5, durationMs: 100, factor: 3, capMs: 500 })]).toEqual([100, 300, 500, 500]);
    expect([...waits({ steps: 3, durationMs: 100, jitter: 0.5 }, () => 0.5)]).toEqual([125, 125]);
    expect([...waits({ steps: 1, durationMs: 100 })]).toEqual([]);
  });

  it('refuses figures that make no sense', () => {
    expect(() => [...waits({ steps: 0, durationMs: 1 })]).toThrow(/steps/);
    expect(() => [...waits({ steps: 1, durationMs: -1 })]).toThrow(/durationMs/);
    expect(() => [...waits({ steps: 1, durationMs: 1, jitter: Number.NaN })]).toThrow(/jitter/);
  });
});

describe('retryOnConflict', () => {
  it('repeats on a conflict until the work succeeds', async () => {
    const clock = new VirtualClock();
    const at: number[] = [];
    const start = clock.now();
    const result = retryOnConflict(
      async (attempt) => {
        at.push(clock.now() - start);
        if (attempt < 3) throw conflict();
        return 'done';
      },
      { clock, random: () => 0 },
    );
    await clock.advance(1000);
    expect(await result).toBe('done');
    expect(at).toEqual([0, 10, 20, 30]);
  });

  // Upstream test: client-go@v0.30.3:util/retry/util_test.go#TestRetryOnConflict
  it('rejects with the last error of the work when the tries are used up, and at once for another error', async () => {
    const clock = new VirtualClock();
    let tries = 0;
    const failing = retryOnConflict(
      () => Promise.reject(newConflict({ group: '', resource: 'pods' }, 'a', `${++tries}`)),
      { clock },
    );
    const outcome = expect(failing).rejects.toThrow(/: 5$/);
    await clock.advance(1000);
    await outcome;
    expect(tries).toBe(5);
    await expect(
      retryOnConflict(() => Promise.reject(newNotFound({ group: '', resource: 'pods' }, 'a')), { clock }),
    ).rejects.toThrow('not found');
    expect(clock.pendingTimers).toBe(0);
  });

  it('ends its wait with the reason of the signal', async () => {
    const clock = new VirtualClock();
    const abort = new AbortController();
    const failing = retryOnError(
      () => true,
      () => Promise.reject(new Error('again')),
      { clock, signal: abort.signal },
    );
    const outcome = expect(failing).rejects.toThrow('enough');
    await settle();
    abort.abort(new Error('enough'));
    await outcome;
    expect(clock.pendingTimers).toBe(0);
  });
});

describe('poll', () => {
  it('asks at once and then each interval, and resolves with the answer', async () => {
    const clock = new VirtualClock();
    let asked = 0;
    const result = poll(async () => (++asked === 3 ? 'yes' : undefined), { intervalMs: 100, clock });
    await clock.advance(200);
    expect(await result).toBe('yes');
    expect(asked).toBe(3);
  });

  it('asks a last time at its deadline, then says that time is up', async () => {
    const clock = new VirtualClock();
    let asked = 0;
    const result = poll(() => void asked++, { intervalMs: 100, timeoutMs: 250, clock });
    const outcome = expect(result).rejects.toSatisfy((error) => isWaitError(error, 'TIMED_OUT'));
    await clock.advance(1000);
    await outcome;
    expect(asked).toBe(4);
    expect(clock.pendingTimers).toBe(0);
  });

  it('waits first when told so, and rejects with what the condition throws', async () => {
    const clock = new VirtualClock();
    let asked = 0;
    const result = poll(
      () => {
        asked++;
        throw new Error('broken');
      },
      { intervalMs: 100, immediate: false, clock },
    );
    const outcome = expect(result).rejects.toThrow('broken');
    await clock.advance(99);
    expect(asked).toBe(0);
    await clock.advance(1);
    await outcome;
  });
});
