import { describe, expect, it, vi } from 'vitest';
import { leakGuard } from './leak-guard.ts';
import { Recording } from './recording.ts';
import { seededRandom } from './seeded-random.ts';

describe('seededRandom', () => {
  it('gives the same numbers for the same seed and others for another', () => {
    const take = (seed: number): number[] => Array.from({ length: 20 }, seededRandom(seed));
    expect(take(7)).toEqual(take(7));
    expect(take(7)).not.toEqual(take(8));
  });

  it('spreads over [0, 1)', () => {
    const random = seededRandom(1);
    const buckets = new Array<number>(10).fill(0);
    for (let draw = 0; draw < 10_000; draw++) {
      const value = random();
      expect(value).toBeGreaterThanOrEqual(0);
      expect(value).toBeLessThan(1);
      buckets[Math.floor(value * 10)]! += 1;
    }
    for (const count of buckets) expect(Math.abs(count - 1_000)).toBeLessThan(150);
  });
});

describe('Recording', () => {
  it('resolves when the condition holds, at once if it does already', async () => {
    const recording = new Recording<number>();
    const two = recording.waitForCount(2);
    recording.push(1);
    const reached = vi.fn();
    void two.then(reached);
    await Promise.resolve();
    expect(reached).not.toHaveBeenCalled();
    recording.push(2);
    await two;
    await recording.waitFor((items) => items.includes(1));
    expect(recording.take()).toEqual([1, 2]);
    expect(recording.items).toEqual([]);
  });

  it('gives up with the reason of the signal', async () => {
    const recording = new Recording<number>();
    const controller = new AbortController();
    const waiting = recording.waitForCount(1, controller.signal);
    controller.abort(new Error('enough'));
    await expect(waiting).rejects.toThrow('enough');
    await expect(recording.waitForCount(1, controller.signal)).rejects.toThrow('enough');
  });
});

describe('leakGuard', () => {
  it('names a timer that is still there, and is quiet once it is gone', async () => {
    const guard = leakGuard();
    const timer = setTimeout(() => {}, 60_000);
    await expect(guard.check()).rejects.toThrow('left behind: 1 Timeout');
    clearTimeout(timer);
    await guard.check();
  });
});
