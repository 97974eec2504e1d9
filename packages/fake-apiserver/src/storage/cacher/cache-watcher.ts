// One client's watch on the cache: first its interval, then live events from a bounded buffer. A reader that lets the
// buffer stay full is cut off by the dispatcher; it has then seen a prefix without a gap.
// Upstream: apiserver@v0.30.3:pkg/storage/cacher/cache_watcher.go#cacheWatcher
// Differs: read by pull. Upstream's input and result channels and the event between them are one buffer here, and
// selectors are applied when an event is put in, so what a watcher does not want takes no room.
import type { Revision } from '../../etcd/client.ts';
import type { StorageWatch, StorageWatchEvent } from '../interfaces.ts';
import {
  type AttributesFunc,
  matchesAttributes,
  predicateIsEmpty,
  type SelectionPredicate,
} from '../selection-predicate.ts';
import type { BookmarkWatcher } from './bookmark-time-buckets.ts';
import { StoreElement } from './store-element.ts';
import type { WatchCacheEvent } from './watch-cache-event.ts';
import type { IntervalItem, WatchCacheInterval } from './watch-cache-interval.ts';
import type { WatchScope } from './watch-scope.ts';

/** Bookmarks of one round; the objects are made once for all watchers. */
export interface BookmarkRound {
  readonly revision: Revision;
  readonly plain: StorageWatchEvent;
  readonly initialEventsEnd: StorageWatchEvent;
}

/** What a watcher asks of the Cacher it belongs to. */
export interface CacheWatcherOwner {
  readonly getAttributes: AttributesFunc;
  /** The watch is over. */
  forget(watcher: CacheWatcher): void;
  /** A watcher the dispatcher waits for has room again. */
  unblocked(watcher: CacheWatcher): void;
  initialEventsSent(count: number): void;
  /** A reader threw when it was told of events; its watch has been ended. */
  readerFailed(watcher: CacheWatcher, error: unknown): void;
  /** The end of the initial events, if this profile sends it without waiting for a bookmark round. */
  initialEventsEndAt(revision: Revision): StorageWatchEvent | undefined;
}

export interface CacheWatcherOptions {
  readonly owner: CacheWatcherOwner;
  readonly scope: WatchScope;
  /** Value of the trigger field this watcher is found by. */
  readonly triggerValue: string | undefined;
  readonly predicate: SelectionPredicate;
  readonly interval: WatchCacheInterval;
  /** Live events up to it are part of the interval, or older than what was asked for. */
  readonly liveAfter: Revision;
  /** Size of each of upstream's two channels. */
  readonly channelSize: number;
  readonly deadlineMs: number | undefined;
  /** The bookmark that ends the initial events has at least this revision; 0 for none. */
  readonly bookmarkAfter: Revision;
  readonly signal: AbortSignal | undefined;
}

type BookmarkState = 'waiting' | 'received' | 'sent';

const BEFORE_DEADLINE_MS = 2000;

export class CacheWatcher implements StorageWatch, BookmarkWatcher {
  readonly scope: WatchScope;
  readonly triggerValue: string | undefined;
  readonly predicate: SelectionPredicate;
  readonly deadlineMs: number | undefined;
  readonly #owner: CacheWatcherOwner;
  readonly #channelSize: number;
  readonly #baseRevision: Revision;
  readonly #liveAfter: Revision;
  readonly #bookmarkAfter: Revision;
  readonly #signal: AbortSignal | undefined;
  #interval: WatchCacheInterval | undefined;
  #initialEvents = 0;
  // Most of the time at most one event waits: the list comes into being when a reader falls behind.
  #first: StorageWatchEvent | undefined;
  #rest: StorageWatchEvent[] | undefined;
  #head = 0;
  /** The event the dispatcher holds for this watcher while the buffer is full. */
  #blockedEvent: StorageWatchEvent | undefined;
  #bookmarkState: BookmarkState;
  #lastBookmark: Revision = 0;
  #listener: (() => void) | undefined;
  #ended = false;

  constructor(options: CacheWatcherOptions) {
    this.#owner = options.owner;
    this.scope = options.scope;
    this.triggerValue = options.triggerValue;
    this.predicate = options.predicate;
    this.deadlineMs = options.deadlineMs;
    this.#channelSize = options.channelSize;
    this.#interval = options.interval.empty ? undefined : options.interval;
    this.#baseRevision = options.interval.baseRevision;
    this.#liveAfter = Math.max(options.liveAfter, this.#baseRevision);
    this.#bookmarkAfter = options.bookmarkAfter;
    this.#bookmarkState = options.bookmarkAfter > 0 ? 'waiting' : 'sent';
    this.#signal = options.signal;
    if (this.#interval === undefined) this.#first = this.#endOfInitialEvents();
    // An object as listener costs no closure; see handleEvent.
    this.#signal?.addEventListener('abort', this as EventListenerObject, { once: true });
  }

  next(): StorageWatchEvent | undefined {
    if (this.#interval !== undefined) {
      const initial = this.#nextOfInterval(this.#interval);
      if (initial !== undefined) return initial;
    }
    const event = this.#first;
    if (event === undefined) return undefined;
    this.#shift();
    if (this.#bookmarkState === 'received' && event.type === 'BOOKMARK') this.#bookmarkState = 'sent';
    if (this.#blockedEvent !== undefined) this.#unblock(this.#blockedEvent);
    return event;
  }

  get done(): boolean {
    return this.#ended && this.#first === undefined && this.#interval === undefined;
  }

  onReadable(listener: () => void): void {
    this.#listener = listener;
  }

  stop(): void {
    this.#listener = undefined;
    this.terminate();
  }

  /** Ends the watch; what is waiting is dropped. */
  terminate(): void {
    this.#interval = undefined;
    this.#first = undefined;
    this.#rest = undefined;
    this.#head = 0;
    this.#finish();
  }

  /** Ends the watch of a reader that is too slow. A client that is owed the end of its initial events still gets it. */
  terminateSlow(): void {
    if (this.#bookmarkState === 'received') this.#finish();
    else this.terminate();
  }

  handleEvent(): void {
    this.terminate();
  }

  /** Offers a live event; false when there is no room for it. */
  add(event: WatchCacheEvent): boolean {
    if (this.#ended || event.revision <= this.#liveAfter || !this.#covers(event.element)) return true;
    const seen = event.seenThrough(this.predicate, this.#owner.getAttributes);
    if (seen === undefined) return true;
    if (this.queued < this.capacity) {
      this.#push(seen);
      return true;
    }
    this.#blockedEvent = seen;
    return false;
  }

  /** Offers a bookmark; without room or use for it, it is dropped. */
  addBookmark(round: BookmarkRound): void {
    const { revision } = round;
    if (this.#ended || this.queued >= this.capacity) return;
    const waiting = this.#bookmarkState === 'waiting';
    if (waiting && revision < this.#bookmarkAfter) return;
    if (revision < this.#baseRevision || (revision === this.#baseRevision && this.#bookmarkState === 'sent')) return;
    this.#lastBookmark = revision;
    if (waiting) this.#bookmarkState = 'received';
    this.#push(waiting ? round.initialEventsEnd : round.plain);
  }

  nextBookmarkAtMs(nowMs: number, frequencyMs: number): number | undefined {
    if (this.#ended) return undefined;
    if (this.#bookmarkState === 'waiting') return 0;
    const at = Math.min(nowMs + frequencyMs, (this.deadlineMs ?? Number.POSITIVE_INFINITY) - BEFORE_DEADLINE_MS);
    return at < nowMs ? undefined : at;
  }

  /** Events that wait for the reader, without the rest of the interval. */
  get queued(): number {
    if (this.#first === undefined) return 0;
    return 1 + (this.#rest === undefined ? 0 : this.#rest.length - this.#head);
  }

  /** While the interval is being read only the first of the two channels takes live events. */
  get capacity(): number {
    return this.#interval === undefined ? 2 * this.#channelSize + 1 : this.#channelSize;
  }

  get ended(): boolean {
    return this.#ended;
  }

  get lastBookmark(): Revision {
    return this.#lastBookmark;
  }

  get blocked(): boolean {
    return this.#blockedEvent !== undefined;
  }

  #nextOfInterval(interval: WatchCacheInterval): StorageWatchEvent | undefined {
    for (let item = interval.next(); item !== undefined; item = interval.next()) {
      if (item === 'overrun') {
        this.terminate();
        return undefined;
      }
      const seen = this.#see(item);
      if (seen === undefined) continue;
      this.#initialEvents++;
      return seen;
    }
    this.#interval = undefined;
    this.#owner.initialEventsSent(this.#initialEvents);
    return this.#endOfInitialEvents();
  }

  #endOfInitialEvents(): StorageWatchEvent | undefined {
    if (this.#bookmarkState !== 'waiting') return undefined;
    const end = this.#owner.initialEventsEndAt(Math.max(this.#baseRevision, this.#bookmarkAfter));
    if (end !== undefined) this.#bookmarkState = 'sent';
    return end;
  }

  #see(item: IntervalItem): StorageWatchEvent | undefined {
    if (!(item instanceof StoreElement)) {
      if (!this.#covers(item.element)) return undefined;
      return item.seenThrough(this.predicate, this.#owner.getAttributes);
    }
    if (!this.#covers(item)) return undefined;
    const wanted =
      predicateIsEmpty(this.predicate) || matchesAttributes(this.predicate, item.attributes(this.#owner.getAttributes));
    return wanted ? item.added : undefined;
  }

  #covers(element: StoreElement): boolean {
    const { namespace, name } = this.scope;
    return (namespace === '' || element.namespace === namespace) && (name === '' || element.name === name);
  }

  #push(event: StorageWatchEvent): void {
    if (this.#first === undefined) {
      this.#first = event;
      this.#notify();
    } else if (this.#rest === undefined) {
      this.#rest = [event];
    } else {
      this.#rest.push(event);
    }
  }

  #shift(): void {
    const rest = this.#rest;
    this.#first = rest?.[this.#head];
    if (rest === undefined) return;
    this.#head++;
    if (this.#head < rest.length) {
      // A reader that never quite catches up must not drag along all it has read.
      if (this.#head >= 64 && this.#head * 2 >= rest.length) {
        rest.splice(0, this.#head);
        this.#head = 0;
      }
      return;
    }
    this.#rest = undefined;
    this.#head = 0;
  }

  #unblock(event: StorageWatchEvent): void {
    this.#blockedEvent = undefined;
    this.#push(event);
    this.#owner.unblocked(this);
  }

  #finish(): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#blockedEvent = undefined;
    this.#signal?.removeEventListener('abort', this as EventListenerObject);
    this.#owner.forget(this);
    this.#notify();
  }

  /** One reader's mistake must not keep the event from the others. */
  #notify(): void {
    if (this.#listener === undefined) return;
    try {
      this.#listener();
    } catch (error) {
      this.stop();
      this.#owner.readerFailed(this, error);
    }
  }
}

interface EventListenerObject {
  handleEvent(): void;
}
