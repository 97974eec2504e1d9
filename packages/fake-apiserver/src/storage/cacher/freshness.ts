// Reads that ask for a revision the cache has not reached yet wait here for a moment.
// Upstream: apiserver@v0.30.3:pkg/storage/cacher/watch_cache.go#waitUntilFreshAndBlock
import { type Clock, newTooLargeResourceVersion } from '@kube-rx/apimachinery';
import type { Revision } from '../../etcd/client.ts';
import { formatResourceVersion } from '../api-object-versioner.ts';
import type { Histogram } from '../metrics.ts';
import type { ConditionalProgressRequester } from './watch-progress.ts';

export interface FreshnessOptions {
  readonly clock: Clock;
  readonly blockTimeoutMs: number;
  readonly currentRevision: () => Revision;
  /** Absent while reads do not depend on progress requests. */
  readonly progress: ConditionalProgressRequester | undefined;
  readonly readWait: Histogram;
}

const RETRY_AFTER_SECONDS = 1;

interface Waiter {
  readonly revision: Revision;
  readonly wake: () => void;
}

export class Freshness {
  readonly #options: FreshnessOptions;
  readonly #waiters = new Set<Waiter>();

  constructor(options: FreshnessOptions) {
    this.#options = options;
  }

  /** The cache moved on. */
  reached(revision: Revision): void {
    if (this.#waiters.size === 0) return;
    for (const waiter of this.#waiters) {
      if (waiter.revision > revision) continue;
      this.#waiters.delete(waiter);
      waiter.wake();
    }
  }

  /**
   * Resolves when the cache has reached a revision; 0 never waits. `asked` is how the request wrote it.
   *
   * @throws StatusError 504 with the cause ResourceVersionTooLarge
   */
  async wait(revision: Revision, asked: string): Promise<void> {
    const { clock, currentRevision, progress, readWait } = this.#options;
    if (revision === 0) return;
    const startMs = clock.now();
    if (currentRevision() < revision) {
      progress?.add();
      const fresh = await this.#sleep(revision);
      progress?.remove();
      if (!fresh) {
        readWait.observe((clock.now() - startMs) / 1000);
        throw newTooLargeResourceVersion(asked, formatResourceVersion(currentRevision()), RETRY_AFTER_SECONDS);
      }
    }
    readWait.observe((clock.now() - startMs) / 1000);
  }

  #sleep(revision: Revision): Promise<boolean> {
    const { clock, blockTimeoutMs } = this.#options;
    return new Promise((resolve) => {
      const waiter: Waiter = {
        revision,
        wake: () => {
          timer.cancel();
          resolve(true);
        },
      };
      const timer = clock.setTimer(() => {
        this.#waiters.delete(waiter);
        resolve(false);
      }, blockTimeoutMs);
      this.#waiters.add(waiter);
    });
  }
}
