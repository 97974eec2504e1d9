import { describe, expect, it } from 'vitest';
import { type BackoffKind, BackoffManager, createBackoffs } from './backoff-manager.ts';
import { NO_RETRY_WINDOW, retryInWindow } from './retry-with-deadline.ts';

describe('BackoffManager', () => {
  it('doubles from 0.8 s to 30 s', () => {
    const manager = new BackoffManager({ random: () => 0 });
    expect(Array.from({ length: 8 }, () => manager.next(0))).toEqual([
      800, 1600, 3200, 6400, 12_800, 25_600, 30_000, 30_000,
    ]);
    expect(manager.attempt).toBe(8);
  });

  it('adds up to once the wait as jitter', () => {
    const manager = new BackoffManager({ random: () => 0.5 });
    expect([manager.next(0), manager.next(0)]).toEqual([1200, 2400]);
  });

  it('starts anew only after more than two minutes without a wait', () => {
    const manager = new BackoffManager({ random: () => 0 });
    manager.next(0);
    expect(manager.next(120_000)).toBe(1600);
    expect(manager.next(240_001)).toBe(800);
    expect(manager.attempt).toBe(1);
  });

  it.each([{ initialMs: 0 }, { maxMs: -1 }, { factor: 0.5 }, { jitter: -1 }, { resetMs: Number.NaN }])(
    'refuses %j',
    (options) => {
      expect(() => new BackoffManager(options)).toThrow(/^option /);
    },
  );

  it('counts the quiet time from the last wait, whatever the clock says', () => {
    const manager = new BackoffManager({ random: () => 0 });
    const now = Date.UTC(2024, 0, 1);
    expect([manager.next(now), manager.next(now + 1000), manager.next(now + 2000)]).toEqual([800, 1600, 3200]);
    expect(manager.next(now + 122_001)).toBe(800);
  });

  it('never waits longer than its maximum, from the first wait on, and may keep one length', () => {
    const manager = new BackoffManager({ initialMs: 800, maxMs: 500, random: () => 0 });
    expect([manager.next(0), manager.next(0), manager.next(500_000)]).toEqual([500, 500, 500]);
    const even = new BackoffManager({ factor: 1, random: () => 0 });
    expect([even.next(0), even.next(0)]).toEqual([800, 800]);
  });

  it('grows apart for each kind of failure, and for streams that end early up to a bound of their own', () => {
    const backoffs = createBackoffs({ random: () => 0 }, 5000);
    const waits = (kind: BackoffKind): number[] => Array.from({ length: 5 }, () => backoffs[kind].next(0));
    expect(waits('connect')).toEqual([800, 1600, 3200, 6400, 12_800]);
    expect(waits('early-close')).toEqual([800, 1600, 3200, 5000, 5000]);
    expect(waits('relist')).toEqual([800, 1600, 3200, 6400, 12_800]);
  });

  it('takes a jitter of 0 as it is', () => {
    expect(new BackoffManager({ jitter: 0, random: () => 1 }).next(0)).toBe(800);
  });
});

describe('retryInWindow', () => {
  it('never retries with a window of 0', () => {
    expect(retryInWindow(NO_RETRY_WINDOW, 5, 0).retry).toBe(false);
  });

  it('retries until the window since the first failure is over, and again after a quiet minute', () => {
    let window = NO_RETRY_WINDOW;
    const at = (now: number): boolean => {
      const next = retryInWindow(window, now, 10_000);
      window = next.window;
      return next.retry;
    };
    expect([at(0), at(9_999), at(10_000), at(50_000), at(110_000), at(170_001)]).toEqual([
      true,
      true,
      false,
      false,
      false,
      true,
    ]);
  });
});
