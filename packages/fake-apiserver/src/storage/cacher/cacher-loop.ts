// Fills the cache and keeps it up to date: list, watch, and again from the start when the watch cannot be resumed.
// Upstream: apiserver@v0.30.3:pkg/storage/cacher/cacher.go#startCaching, client-go@v0.30.3:tools/cache/reflector.go
// Differs: its own loop, since a server that shared the client's reflector could not show the client's mistakes.
import {
  type Clock,
  everythingFields,
  everythingLabels,
  isInternalError,
  Lifecycle,
  type Logger,
  sleep,
} from '@kube-rx/apimachinery';
import type { Revision } from '../../etcd/client.ts';
import type { WatchCacheConstants } from '../../profiles/profile.ts';
import { parseResourceVersion } from '../api-object-versioner.ts';
import type { BackingEventType, BackingStore, BackingWatch } from '../backing-store.ts';
import type { AttributesFunc, SelectionPredicate } from '../selection-predicate.ts';
import type { StoredObject } from '../stored-object.ts';

export interface CacherLoopOptions {
  readonly store: BackingStore;
  /** Without a slash at its end. */
  readonly resourcePrefix: string;
  readonly getAttributes: AttributesFunc;
  readonly constants: WatchCacheConstants;
  readonly clock: Clock;
  readonly logger: Logger;
  /** A new round begins: what was served so far is over. */
  readonly onStart: () => void;
  readonly onList: (objects: readonly StoredObject[], revision: Revision) => void;
  readonly onEvent: (type: BackingEventType, object: StoredObject) => void;
  readonly onProgress: (revision: Revision) => void;
  /** The watch is lost and cannot be resumed. */
  readonly onLost: () => void;
  readonly currentRevision: () => Revision;
}

/** How long a failing watch is resumed before the list is made again. */
const RETRY_WINDOW_MS = 30_000;
const RETRY_DELAY_MS = 1_000;

type WatchEnd = 'relist' | 'retry';

export class CacherLoop {
  readonly #options: CacherLoopOptions;
  readonly #lifecycle = new Lifecycle();
  #watch: BackingWatch | undefined;
  #paused = false;
  #endWatch: ((end: WatchEnd) => void) | undefined;

  constructor(options: CacherLoopOptions) {
    this.#options = options;
  }

  start(): void {
    const done = this.#run();
    this.#lifecycle.defer(() => done);
  }

  /** As if the watch had ended with an error that cannot be resumed. */
  restart(): void {
    this.#endWatch?.('relist');
  }

  requestProgress(): void {
    this.#watch?.requestProgress();
  }

  setPaused(paused: boolean): void {
    this.#paused = paused;
    if (paused) this.#watch?.pause();
    else this.#watch?.resume();
  }

  async close(): Promise<void> {
    const closing = this.#lifecycle.close();
    this.#endWatch?.('relist');
    await closing;
  }

  async #run(): Promise<void> {
    const { onStart, onLost, constants, clock, logger, resourcePrefix } = this.#options;
    const { signal } = this.#lifecycle;
    while (!signal.aborted) {
      onStart();
      try {
        await this.#list();
        await this.#watchUntilLost();
        onLost();
      } catch (error) {
        if (!signal.aborted) logger.warn('cache could not be filled', { resourcePrefix, error });
      }
      await sleep(clock, constants.relistDelayMs, { signal, unref: true }).catch(() => undefined);
    }
  }

  async #list(): Promise<void> {
    const { store, resourcePrefix, getAttributes, constants, onList } = this.#options;
    const { signal } = this.#lifecycle;
    const objects: StoredObject[] = [];
    let token = '';
    let revision = 0;
    do {
      const predicate: SelectionPredicate = {
        label: everythingLabels,
        field: everythingFields,
        getAttributes,
        limit: constants.listPageSize,
        continue: token,
        allowWatchBookmarks: false,
      };
      const page = await store.getList(resourcePrefix, { predicate, signal });
      for (const stored of page.items) objects.push(stored);
      token = page.continue;
      revision = parseResourceVersion(page.resourceVersion);
    } while (token !== '');
    if (!signal.aborted) onList(objects, revision);
  }

  async #watchUntilLost(): Promise<void> {
    const { clock, currentRevision } = this.#options;
    const { signal } = this.#lifecycle;
    let failingSinceMs: number | undefined;
    while (!signal.aborted) {
      const startRevision = currentRevision();
      const end = await this.#watchOnce(startRevision);
      if (end === 'relist') return;
      if (currentRevision() > startRevision) failingSinceMs = undefined;
      failingSinceMs ??= clock.now();
      if (clock.now() - failingSinceMs > RETRY_WINDOW_MS) return;
      await sleep(clock, RETRY_DELAY_MS, { signal, unref: true }).catch(() => undefined);
    }
  }

  #watchOnce(after: Revision): Promise<WatchEnd> {
    const { store, resourcePrefix, onEvent, onProgress, logger } = this.#options;
    return new Promise((resolve) => {
      const watch = store.watchAll(`${resourcePrefix}/`, after, {
        event: onEvent,
        progress: onProgress,
        ended: (error) => {
          if (error !== undefined) logger.warn('watch chan error', { resourcePrefix, error });
          finish(error === undefined || isInternalError(error) ? 'retry' : 'relist');
        },
      });
      const finish = (end: WatchEnd): void => {
        watch.stop();
        this.#watch = undefined;
        this.#endWatch = undefined;
        resolve(end);
      };
      this.#watch = watch;
      this.#endWatch = finish;
      if (this.#paused) watch.pause();
    });
  }
}
