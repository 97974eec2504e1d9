import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { realClock, sleep } from './clock.ts';
import { VirtualClock } from './virtual-clock.ts';

describe('realClock', () => {
  beforeEach(() => {
    vi.useFakeTimers();
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  it('does not jump when the time of the machine is set, but for the time of day', () => {
    const before = realClock.now();
    vi.setSystemTime(Date.now() - 3_600_000);
    vi.advanceTimersByTime(1500);
    expect(realClock.now() - before).toBe(1500);
    vi.setSystemTime(1_700_000_000_000);
    expect(realClock.now() - before).toBe(1500);
    expect(realClock.wall?.()).toBe(1_700_000_000_000);
  });

  it('honours a delay that a single timer of the platform cannot', () => {
    const run = vi.fn();
    const delayMs = 2 ** 31 + 5_000;
    realClock.setTimer(run, delayMs);
    vi.advanceTimersByTime(delayMs - 1);
    expect(run).not.toHaveBeenCalled();
    vi.advanceTimersByTime(1);
    expect(run).toHaveBeenCalledOnce();
    expect(vi.getTimerCount()).toBe(0);
  });

  it('cancels a long timer in its second leg', () => {
    const run = vi.fn();
    const timer = realClock.setTimer(run, 2 ** 31 + 5_000);
    vi.advanceTimersByTime(2 ** 31);
    timer.cancel();
    timer.cancel();
    vi.advanceTimersByTime(10_000);
    expect(run).not.toHaveBeenCalled();
    expect(vi.getTimerCount()).toBe(0);
  });

  it('counts a negative delay as 0', () => {
    const run = vi.fn();
    realClock.setTimer(run, -1_000);
    vi.advanceTimersByTime(0);
    expect(run).toHaveBeenCalledOnce();
  });
});

describe('realClock with the timers of the platform', () => {
  it('begins with the time of the machine, in whole milliseconds', () => {
    expect(Math.abs(realClock.now() - Date.now())).toBeLessThan(5_000);
    expect(Number.isInteger(realClock.now())).toBe(true);
  });

  it('keeps the process alive unless told otherwise', () => {
    const held = vi.spyOn(globalThis, 'setTimeout');
    const timers = [realClock.setTimer(() => {}, 60_000), realClock.setTimer(() => {}, 60_000, { unref: true })];
    const handles = held.mock.results.map(({ value }) => value as NodeJS.Timeout);
    expect(handles.map((handle) => handle.hasRef())).toEqual([true, false]);
    for (const timer of timers) timer.cancel();
  });
});

describe('sleep', () => {
  it('resolves when the time is over', async () => {
    const clock = new VirtualClock();
    const woken = vi.fn();
    void sleep(clock, 1_000).then(woken);
    await clock.advance(999);
    expect(woken).not.toHaveBeenCalled();
    await clock.advance(1);
    expect(woken).toHaveBeenCalledOnce();
  });

  it('rejects with the reason of the signal and leaves no timer', async () => {
    const clock = new VirtualClock();
    const controller = new AbortController();
    const sleeping = sleep(clock, 1_000, { signal: controller.signal });
    controller.abort(new Error('stop'));
    await expect(sleeping).rejects.toThrow('stop');
    expect(clock.pendingTimers).toBe(0);
  });

  it('rejects at once, without a timer, when the signal is aborted already', async () => {
    const clock = new VirtualClock();
    await expect(sleep(clock, 1_000, { signal: AbortSignal.abort(new Error('too late')) })).rejects.toThrow('too late');
    expect(clock.pendingTimers).toBe(0);
  });

  it('takes its listener off the signal', async () => {
    const clock = new VirtualClock();
    const { signal } = new AbortController();
    const added = vi.spyOn(signal, 'addEventListener');
    const removed = vi.spyOn(signal, 'removeEventListener');
    const sleeping = sleep(clock, 5, { signal });
    await clock.advance(5);
    await sleeping;
    expect(removed).toHaveBeenCalledWith('abort', added.mock.calls[0]?.[1]);
  });
});
