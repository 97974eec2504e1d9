// Brings each change to the watchers it concerns. A watcher without room holds the others up no longer than the time budget
// allows, then it is cut off.
// Upstream: apiserver@v0.30.3:pkg/storage/cacher/cacher.go#dispatchEvents, #dispatchEvent
import { type Clock, type ClockTimer, settle } from '@kube-rx/apimachinery';
import type { Revision } from '../../etcd/client.ts';
import type { Profile } from '../../profiles/profile.ts';
import type { Counter } from '../metrics.ts';
import { BookmarkTimeBuckets } from './bookmark-time-buckets.ts';
import type { BookmarkRound, CacheWatcher } from './cache-watcher.ts';
import type { IndexedWatchers } from './indexed-watchers.ts';
import { TimeBudget } from './time-budget.ts';
import type { WatchCacheEvent } from './watch-cache-event.ts';

export interface DispatcherOptions {
  readonly clock: Clock;
  readonly random: () => number;
  readonly profile: Profile;
  readonly watchers: IndexedWatchers;
  readonly makeRound: (revision: Revision) => BookmarkRound;
  /** More events came in than may wait; and: there is room again. */
  readonly onBackPressure: (full: boolean) => void;
  readonly onSlow: (watcher: CacheWatcher) => void;
  readonly dispatched: Counter;
}

const TICK_JITTER = 0.25;

export class Dispatcher {
  readonly #options: DispatcherOptions;
  readonly #budget: TimeBudget;
  readonly #bookmarks: BookmarkTimeBuckets<CacheWatcher>;
  /** A number is progress of etcd without a change. */
  readonly #incoming: (WatchCacheEvent | Revision)[] = [];
  readonly #blocked = new Set<CacheWatcher>();
  #running = false;
  #full = false;
  #deadline: { readonly timer: ClockTimer; readonly atMs: number } | undefined;
  #lastProcessed: Revision = 0;
  #tick: { readonly timer: ClockTimer; readonly atMs: number } | undefined;
  #lastRound: { readonly revision: Revision; readonly atMs: number } | undefined;

  constructor(options: DispatcherOptions) {
    this.#options = options;
    const { timeBudgetRefreshMs, timeBudgetMaxMs, bookmarkFrequencyMs } = options.profile.watchCache;
    this.#budget = new TimeBudget(options.clock, { refreshMs: timeBudgetRefreshMs, maxMs: timeBudgetMaxMs });
    this.#bookmarks = new BookmarkTimeBuckets(options.clock, bookmarkFrequencyMs);
  }

  /** Everything up to it was offered to the watchers; 0 before the first event. */
  get lastProcessed(): Revision {
    return this.#lastProcessed;
  }

  get incoming(): number {
    return this.#incoming.length;
  }

  get budgetMs(): number {
    return this.#budget.availableMs;
  }

  get lastRound(): { readonly revision: Revision; readonly atMs: number } | undefined {
    return this.#lastRound;
  }

  dispatch(item: WatchCacheEvent | Revision): void {
    this.#incoming.push(item);
    this.#run();
    if (!this.#full && this.#incoming.length >= this.#options.profile.watchCache.incomingBuffer) {
      this.#full = true;
      this.#options.onBackPressure(true);
    }
  }

  /** A list counts as seen where bookmarks need no event. */
  listed(revision: Revision): void {
    if (!this.#options.profile.behaviours.bookmarkNeedsEvent) this.#lastProcessed = revision;
  }

  addBookmarkWatcher(watcher: CacheWatcher): void {
    if (this.#bookmarks.add(watcher)) this.#arm();
  }

  /** A watcher that was waited for has room, or is gone. */
  unblocked(watcher: CacheWatcher): void {
    if (!this.#blocked.delete(watcher) || this.#blocked.size > 0) return;
    const { clock } = this.#options;
    const deadline = this.#deadline;
    this.#deadline = undefined;
    if (deadline !== undefined) {
      deadline.timer.cancel();
      this.#budget.returnUnused(deadline.atMs - clock.now());
    }
    this.#run();
  }

  stop(): void {
    this.#deadline?.timer.cancel();
    this.#deadline = undefined;
    this.#tick?.timer.cancel();
    this.#incoming.length = 0;
    this.#blocked.clear();
  }

  #run(): void {
    if (this.#running || this.#blocked.size > 0) return;
    this.#running = true;
    let at = 0;
    try {
      while (at < this.#incoming.length && this.#blocked.size === 0) this.#one(this.#incoming[at++]!);
    } finally {
      this.#running = false;
      this.#incoming.splice(0, at);
    }
    if (this.#full && this.#incoming.length < this.#options.profile.watchCache.incomingBuffer) {
      this.#full = false;
      this.#options.onBackPressure(false);
    }
  }

  #one(item: WatchCacheEvent | Revision): void {
    this.#options.dispatched.inc();
    if (typeof item === 'number') {
      this.#lastProcessed = item;
      return;
    }
    let blocked: CacheWatcher[] | undefined;
    this.#options.watchers.match(item.element, item.previous, (watcher) => {
      if (watcher.add(item)) return;
      if (blocked === undefined) blocked = [watcher];
      else blocked.push(watcher);
    });
    this.#lastProcessed = item.revision;
    if (blocked !== undefined) this.#waitFor(blocked);
  }

  #waitFor(watchers: readonly CacheWatcher[]): void {
    const { clock } = this.#options;
    for (const watcher of watchers) if (watcher.blocked) this.#blocked.add(watcher);
    if (this.#blocked.size === 0) return;
    const budgetMs = this.#budget.takeAvailable();
    const atMs = clock.now() + budgetMs;
    if (budgetMs > 0) {
      this.#deadline = { timer: clock.setTimer(() => this.#giveUp(), budgetMs), atMs };
      return;
    }
    // Without any budget they still get the turn that parallel threads would have had; time need not pass for it.
    const deadline = { timer: { cancel: () => undefined }, atMs };
    this.#deadline = deadline;
    void settle().then(() => {
      if (this.#deadline === deadline) this.#giveUp();
    });
  }

  #giveUp(): void {
    this.#deadline = undefined;
    const slow = [...this.#blocked];
    this.#blocked.clear();
    for (const watcher of slow) this.#options.onSlow(watcher);
    this.#run();
  }

  /** Wakes up when the next watcher is due, and no sooner: caches nobody watches cost no timers. */
  #arm(): void {
    const dueMs = this.#bookmarks.nextAtMs;
    if (dueMs === undefined) return;
    const { clock, random, profile } = this.#options;
    const tickMs = profile.watchCache.dispatchTickMs * (1 + random() * TICK_JITTER);
    const atMs = Math.max(clock.now(), dueMs) + random() * tickMs;
    if (this.#tick !== undefined) {
      if (this.#tick.atMs <= dueMs + tickMs) return;
      this.#tick.timer.cancel();
    }
    const timer = clock.setTimer(() => this.#onTick(), atMs - clock.now(), { unref: true });
    this.#tick = { timer, atMs };
  }

  #onTick(): void {
    this.#tick = undefined;
    // While a slow watcher is waited for, upstream's loop does not come round either.
    if (this.#blocked.size === 0) this.#bookmarkRound();
    this.#arm();
  }

  #bookmarkRound(): void {
    const due = this.#bookmarks.popExpired();
    if (due.length === 0) return;
    if (this.#lastProcessed > 0) {
      const round = this.#options.makeRound(this.#lastProcessed);
      this.#lastRound = { revision: this.#lastProcessed, atMs: this.#options.clock.now() };
      for (const watcher of due) watcher.addBookmark(round);
    }
    for (const watcher of due) this.#bookmarks.add(watcher);
  }
}
