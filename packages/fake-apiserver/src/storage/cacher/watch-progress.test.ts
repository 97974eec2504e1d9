// Upstream test: apiserver@v0.30.3:pkg/storage/cacher/watch_progress_test.go#TestConditionalProgressRequester
import { VirtualClock } from '@kube-rx/apimachinery';
import { describe, expect, it } from 'vitest';
import { ConditionalProgressRequester } from './watch-progress.ts';

describe('ConditionalProgressRequester', () => {
  it('asks at once and then every period, as long as somebody waits', () => {
    const clock = new VirtualClock();
    let asked = 0;
    const requester = new ConditionalProgressRequester(clock, 100, () => asked++);
    clock.advanceSync(1000);
    expect(asked).toBe(0);
    requester.add();
    expect(asked).toBe(1);
    clock.advanceSync(250);
    requester.add();
    expect(asked).toBe(3);
    requester.remove();
    clock.advanceSync(100);
    expect(asked).toBe(4);
    requester.remove();
    clock.advanceSync(1000);
    expect([asked, clock.pendingTimers]).toEqual([4, 0]);
    requester.add();
    expect(asked).toBe(5);
    requester.stop();
    expect(clock.pendingTimers).toBe(0);
  });
});
