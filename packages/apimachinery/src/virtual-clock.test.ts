import fc from 'fast-check';
import { describe, expect, it, vi } from 'vitest';
import { sleep } from './clock.ts';
import { VirtualClock } from './virtual-clock.ts';

describe('VirtualClock', () => {
  it('stands still until it is advanced', async () => {
    const clock = new VirtualClock({ startMs: 1_000 });
    const run = vi.fn();
    clock.setTimer(run, 0);
    await Promise.resolve();
    expect([clock.now(), run.mock.calls.length, clock.nextTimerAt]).toEqual([1_000, 0, 1_000]);
  });

  it('shows a timer the instant it was set for', async () => {
    const clock = new VirtualClock({ startMs: 0 });
    const seen: number[] = [];
    for (const delayMs of [30, 10, 20]) clock.setTimer(() => seen.push(clock.now()), delayMs);
    await clock.advance(25);
    expect(seen).toEqual([10, 20]);
    expect([clock.now(), clock.pendingTimers, clock.nextTimerAt]).toEqual([25, 1, 30]);
  });

  it('runs timers that timers set, within the same advance', () => {
    const clock = new VirtualClock({ startMs: 0 });
    const seen: number[] = [];
    const tick = (): void => {
      seen.push(clock.now());
      clock.setTimer(tick, 10);
    };
    clock.setTimer(tick, 10);
    clock.advanceSync(35);
    expect(seen).toEqual([10, 20, 30]);
  });

  it('lets promises settle between two timers', async () => {
    const clock = new VirtualClock({ startMs: 0 });
    const seen: string[] = [];
    const work = async (): Promise<void> => {
      await sleep(clock, 10);
      for (let step = 0; step < 50; step++) await Promise.resolve();
      seen.push(`work ${clock.now()}`);
      await sleep(clock, 10);
      seen.push(`work ${clock.now()}`);
    };
    void work();
    clock.setTimer(() => seen.push(`timer ${clock.now()}`), 15);
    await clock.advance(20);
    expect(seen).toEqual(['work 10', 'timer 15', 'work 20']);
  });

  it('never goes back, even when two advances overlap', async () => {
    const clock = new VirtualClock({ startMs: 0 });
    const seen: number[] = [];
    for (let delayMs = 1; delayMs <= 10; delayMs++) clock.setTimer(() => seen.push(clock.now()), delayMs);
    await Promise.all([clock.advance(10), clock.advance(5)]);
    expect(clock.now()).toBe(10);
    expect(seen).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
  });

  it('does not run a timer that another one cancels at the same instant', () => {
    const clock = new VirtualClock();
    const run = vi.fn();
    clock.setTimer(() => later.cancel(), 5);
    const later = clock.setTimer(run, 5);
    clock.advanceSync(5);
    later.cancel();
    expect(run).not.toHaveBeenCalled();
  });

  it('passes on what a timer throws and stands at its instant', async () => {
    const clock = new VirtualClock({ startMs: 0 });
    clock.setTimer(() => {
      throw new Error('broken');
    }, 5);
    await expect(clock.advance(10)).rejects.toThrow('broken');
    expect([clock.now(), clock.pendingTimers]).toEqual([5, 0]);
  });

  it('takes a delay that is no number, or negative, for 0', () => {
    const clock = new VirtualClock({ startMs: 7 });
    clock.setTimer(() => {}, Number.NaN);
    clock.setTimer(() => {}, -5);
    expect(clock.nextTimerAt).toBe(7);
    clock.advanceSync(0);
    expect(clock.pendingTimers).toBe(0);
  });

  it('agrees with a naive list of timers under any schedule', () => {
    type Command = { readonly set: number } | { readonly cancel: number } | { readonly advance: number };
    const command: fc.Arbitrary<Command> = fc.oneof(
      fc.record({ set: fc.integer({ min: 0, max: 8 }) }),
      fc.record({ cancel: fc.nat(20) }),
      fc.record({ advance: fc.integer({ min: 0, max: 5 }) }),
    );
    fc.assert(
      fc.property(fc.array(command, { maxLength: 60 }), (commands) => {
        const clock = new VirtualClock({ startMs: 0 });
        const fired: number[] = [];
        const timers: { cancel(): void }[] = [];
        let pending: { id: number; at: number }[] = [];
        const expected: number[] = [];
        let now = 0;
        for (const step of commands) {
          if ('set' in step) {
            const id = timers.length;
            timers.push(clock.setTimer(() => fired.push(id), step.set));
            pending.push({ id, at: now + step.set });
          } else if ('cancel' in step) {
            timers[step.cancel]?.cancel();
            pending = pending.filter(({ id }) => id !== step.cancel);
          } else {
            clock.advanceSync(step.advance);
            now += step.advance;
            const due = pending.filter(({ at }) => at <= now).sort((a, b) => a.at - b.at || a.id - b.id);
            expected.push(...due.map(({ id }) => id));
            pending = pending.filter(({ at }) => at > now);
          }
          expect(clock.pendingTimers).toBe(pending.length);
        }
        expect(fired).toEqual(expected);
      }),
    );
  });
});
