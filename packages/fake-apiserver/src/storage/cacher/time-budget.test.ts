// Upstream test: apiserver@v0.30.3:pkg/storage/cacher/time_budget_test.go#TestTimeBudget
import { VirtualClock } from '@kube-rx/apimachinery';
import { describe, expect, it } from 'vitest';
import { TimeBudget } from './time-budget.ts';

const setUp = (): { clock: VirtualClock; budget: TimeBudget } => {
  const clock = new VirtualClock();
  return { clock, budget: new TimeBudget(clock, { refreshMs: 50, maxMs: 100 }) };
};

describe('TimeBudget', () => {
  it('starts with nothing and saves up to its bound', () => {
    const { clock, budget } = setUp();
    expect(budget.takeAvailable()).toBe(0);
    clock.advanceSync(1000);
    expect(budget.takeAvailable()).toBe(50);
    clock.advanceSync(999);
    expect(budget.takeAvailable()).toBe(0);
    clock.advanceSync(10_000);
    expect(budget.takeAvailable()).toBe(100);
  });

  it('takes back what was not used, up to its bound', () => {
    const { clock, budget } = setUp();
    clock.advanceSync(1000);
    budget.takeAvailable();
    budget.returnUnused(30);
    budget.returnUnused(-5);
    expect(budget.availableMs).toBe(30);
    budget.returnUnused(100);
    expect(budget.takeAvailable()).toBe(100);
  });
});
