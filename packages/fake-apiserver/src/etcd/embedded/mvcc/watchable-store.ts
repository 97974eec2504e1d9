// Watches on a store. A synced watcher gets a change the moment it is committed; the others (new ones with a past, and those
// that were paused) are served from the log until they have caught up.
// Upstream: etcd@v3.5.15:server/storage/mvcc/watchable_store.go
import type { EtcdEvent, EtcdWatch, Revision, WatchObserver, WatchRequest } from '../../client.ts';
import { EtcdError } from '../../errors.ts';
import type { KvStore } from './kvstore.ts';
import { type Watched, WatcherGroup } from './watcher-group.ts';

// A reader that pauses is not given more than this on top of what it wanted.
const CATCH_UP_BATCH = 100;

export class WatchableStore {
  readonly #store: KvStore;
  readonly #synced = new WatcherGroup<Watcher>();
  readonly #unsynced = new Set<Watcher>();
  // Commits made by an observer while it is being told of another one wait here, so that everybody sees one order.
  #pending: (readonly EtcdEvent[])[] = [];
  #telling: Revision | undefined;

  constructor(store: KvStore) {
    this.#store = store;
  }

  get watchers(): number {
    return this.#synced.size + this.#unsynced.size;
  }

  watch(request: WatchRequest, observer: WatchObserver): EtcdWatch {
    const start = request.startRevision ?? 0;
    const watcher = new Watcher(this, request, observer, start > 0 ? start : this.#store.revision + 1);
    this.#unsynced.add(watcher);
    // The caller must hold the handle before the first call.
    queueMicrotask(() => {
      if (!watcher.ended) observer.created?.(this.#store.revision);
      this.sync(watcher);
    });
    return watcher;
  }

  /** Tells the synced watchers of one committed revision. */
  notify(events: readonly EtcdEvent[]): void {
    if (events.length === 0) return;
    this.#pending.push(events);
    if (this.#telling !== undefined) return;
    try {
      for (let at = 0; at < this.#pending.length; at++) {
        this.#telling = this.#pending[at]![0]!.kv.modRevision;
        this.#deliver(this.#pending[at]!);
      }
    } finally {
      this.#pending = [];
      this.#telling = undefined;
    }
  }

  /** Feeds a watcher from the log until it is up to date or pauses. Runs from microtasks only, so never inside `notify`. */
  sync(watcher: Watcher): void {
    const log = this.#store.log;
    while (!watcher.ended && !watcher.paused) {
      if (watcher.nextRevision < (this.#store.compactRevision ?? 0)) {
        const compactRevision = this.#store.compactRevision;
        this.end(watcher, new EtcdError('Compacted', { compactRevision }));
        return;
      }
      const batch: EtcdEvent[] = [];
      let revision = watcher.nextRevision - 1;
      let at = log.seek(watcher.nextRevision);
      for (; at < log.end; at++) {
        const event = log.get(at)!;
        if (batch.length >= CATCH_UP_BATCH && event.kv.modRevision > revision) break;
        revision = event.kv.modRevision;
        if (watcher.wants(event.kv.key)) batch.push(watcher.prevKv ? event : withoutPrev(event));
      }
      const caughtUp = at >= log.end;
      watcher.nextRevision = Math.max(watcher.nextRevision, (caughtUp ? this.#store.revision : revision) + 1);
      if (caughtUp) {
        this.#unsynced.delete(watcher);
        this.#synced.add(watcher);
      }
      if (batch.length > 0) watcher.observer.events(batch, revision);
      if (caughtUp) {
        watcher.flushProgress();
        return;
      }
    }
  }

  unsync(watcher: Watcher): void {
    if (!this.#synced.delete(watcher)) return;
    this.#unsynced.add(watcher);
    // It has seen everything that was told, whether it matched or not; what is told just now may still be ahead of it.
    watcher.nextRevision = Math.max(watcher.nextRevision, this.#telling ?? this.#store.revision + 1);
  }

  isSynced(watcher: Watcher): boolean {
    return !this.#unsynced.has(watcher);
  }

  get revision(): Revision {
    return this.#store.revision;
  }

  remove(watcher: Watcher): void {
    if (!this.#synced.delete(watcher)) this.#unsynced.delete(watcher);
  }

  end(watcher: Watcher, error: Error | undefined): void {
    if (watcher.ended) return;
    watcher.ended = true;
    this.remove(watcher);
    watcher.observer.ended(error);
  }

  /** Those that asked for periodic progress and had no event for the whole interval. */
  notifyProgress(): void {
    const revision = this.#store.revision;
    for (const watcher of [...this.#synced]) {
      if (!watcher.progressNotify) continue;
      if (watcher.quiet && !watcher.ended) watcher.observer.progress?.(revision);
      watcher.quiet = true;
    }
  }

  /** Ends all watches, as a server that stops or loses its leader does. */
  endAll(error: Error | undefined): void {
    for (const watcher of [...this.#synced, ...this.#unsynced]) this.end(watcher, error);
  }

  #deliver(events: readonly EtcdEvent[]): void {
    const revision = events[0]!.kv.modRevision;
    if (events.length === 1) {
      const event = events[0]!;
      let targets: Watcher | Watcher[] | undefined;
      this.#synced.match(event.kv.key, (watcher) => {
        if (targets === undefined) targets = watcher;
        else if (Array.isArray(targets)) targets.push(watcher);
        else targets = [targets, watcher];
      });
      if (targets === undefined) return;
      if (!Array.isArray(targets)) this.#tell(targets, events, revision);
      else for (const watcher of targets) this.#tell(watcher, events, revision);
      return;
    }
    const batches = new Map<Watcher, EtcdEvent[]>();
    for (const event of events) {
      this.#synced.match(event.kv.key, (watcher) => {
        const batch = batches.get(watcher);
        if (batch === undefined) batches.set(watcher, [event]);
        else batch.push(event);
      });
    }
    for (const [watcher, batch] of batches) this.#tell(watcher, batch, revision);
  }

  #tell(watcher: Watcher, events: readonly EtcdEvent[], revision: Revision): void {
    // Paused or cancelled by an observer that was told before it; or it starts later than this revision.
    if (watcher.ended || watcher.nextRevision > revision || !this.isSynced(watcher)) return;
    watcher.nextRevision = revision + 1;
    watcher.quiet = false;
    watcher.observer.events(watcher.prevKv ? events : events.map(withoutPrev), revision);
  }
}

class Watcher implements EtcdWatch, Watched {
  readonly #owner: WatchableStore;
  readonly key: string;
  readonly rangeEnd: string | undefined;
  readonly prevKv: boolean;
  readonly progressNotify: boolean;
  readonly observer: WatchObserver;
  /** First revision that was not delivered yet; exact while unsynced, a lower bound while synced. */
  nextRevision: Revision;
  paused = false;
  ended = false;
  /** No event since the last periodic progress. */
  quiet = true;
  #progressWanted = false;

  constructor(owner: WatchableStore, request: WatchRequest, observer: WatchObserver, nextRevision: Revision) {
    this.#owner = owner;
    this.key = request.key;
    this.rangeEnd = request.rangeEnd;
    this.prevKv = request.prevKv ?? false;
    this.progressNotify = request.progressNotify ?? false;
    this.observer = observer;
    this.nextRevision = nextRevision;
  }

  wants(key: string): boolean {
    if (this.rangeEnd === undefined) return key === this.key;
    return key >= this.key && (this.rangeEnd === '\0' || key < this.rangeEnd);
  }

  pause(): void {
    if (this.paused || this.ended) return;
    this.paused = true;
    this.#owner.unsync(this);
  }

  resume(): void {
    if (!this.paused || this.ended) return;
    this.paused = false;
    queueMicrotask(() => {
      if (!this.paused && !this.ended) this.#owner.sync(this);
    });
  }

  requestProgress(): void {
    if (this.#progressWanted || this.ended) return;
    this.#progressWanted = true;
    queueMicrotask(() => this.flushProgress());
  }

  flushProgress(): void {
    if (!this.#progressWanted || this.ended || this.paused || !this.#owner.isSynced(this)) return;
    this.#progressWanted = false;
    this.observer.progress?.(this.#owner.revision);
  }

  cancel(): void {
    if (this.ended) return;
    this.ended = true;
    this.#owner.remove(this);
  }
}

function withoutPrev(event: EtcdEvent): EtcdEvent {
  return event.prevKv === undefined ? event : { type: event.type, kv: event.kv };
}
