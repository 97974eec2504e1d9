// How long dispatch may wait for slow watchers: time is saved up while nobody is slow, so that one slow watcher cannot
// hold the others up for long.
// Upstream: apiserver@v0.30.3:pkg/storage/cacher/time_budget.go#timeBudget
// Differs: the budget is computed when it is asked for instead of being filled by a ticker.
import type { Clock } from '@kube-rx/apimachinery';

export interface TimeBudgetLimits {
  /** Added each full second. */
  readonly refreshMs: number;
  readonly maxMs: number;
}

const REFRESH_PERIOD_MS = 1000;

export class TimeBudget {
  readonly #clock: Clock;
  readonly #limits: TimeBudgetLimits;
  #budgetMs = 0;
  #refreshedAtMs: number;

  constructor(clock: Clock, limits: TimeBudgetLimits) {
    this.#clock = clock;
    this.#limits = limits;
    this.#refreshedAtMs = clock.now();
  }

  get availableMs(): number {
    this.#refresh();
    return this.#budgetMs;
  }

  takeAvailable(): number {
    this.#refresh();
    const taken = this.#budgetMs;
    this.#budgetMs = 0;
    return taken;
  }

  returnUnused(unusedMs: number): void {
    if (unusedMs > 0) this.#budgetMs = Math.min(this.#budgetMs + unusedMs, this.#limits.maxMs);
  }

  #refresh(): void {
    const periods = Math.floor((this.#clock.now() - this.#refreshedAtMs) / REFRESH_PERIOD_MS);
    if (periods <= 0) return;
    this.#refreshedAtMs += periods * REFRESH_PERIOD_MS;
    this.#budgetMs = Math.min(this.#budgetMs + periods * this.#limits.refreshMs, this.#limits.maxMs);
  }
}
