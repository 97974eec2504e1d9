import { describe, expect, it } from 'vitest';
import { BackoffManager } from './backoff-manager.ts';
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
