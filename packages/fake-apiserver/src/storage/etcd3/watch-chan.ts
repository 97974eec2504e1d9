// One running watch on etcd: initial state if asked for, then changes. A slow reader stops the reading of etcd, which keeps
// the backlog; nothing is dropped.
// Upstream: apiserver@v0.30.3:pkg/storage/etcd3/watcher.go#watchChan
import { newTooLargeResourceVersion, type StatusError } from '@kube-rx/apimachinery';
import { type EtcdEvent, type EtcdWatch, prefixEnd, type Revision } from '../../etcd/client.ts';
import { formatResourceVersion } from '../api-object-versioner.ts';
import { makeBookmark } from '../bookmark.ts';
import type { StorageWatch, StorageWatchEvent } from '../interfaces.ts';
import { matchesObject, type SelectionPredicate } from '../selection-predicate.ts';
import { interpretWatchError } from './errors.ts';
import { transform } from './event.ts';
import type { StoreContext } from './store-context.ts';

// The two buffers of 100 that lie between etcd and the reader upstream.
const BUFFERED_EVENTS = 200;
const PAGE_SIZE = 10_000;

export interface WatchChanRequest {
  /** Ends in '/' when `recursive`. */
  readonly key: string;
  readonly recursive: boolean;
  /** Changes after it; 0 with initial state: after the state. */
  readonly revision: Revision;
  readonly predicate: SelectionPredicate;
  readonly initialEvents: boolean;
  readonly initialEventsEndBookmark: boolean;
  readonly signal: AbortSignal | undefined;
}

export class WatchChan implements StorageWatch {
  readonly #ctx: StoreContext;
  readonly #request: WatchChanRequest;
  #queue: StorageWatchEvent[] = [];
  #head = 0;
  #listener: (() => void) | undefined;
  #onEnd: (() => void) | undefined;
  #ended = false;
  #etcdWatch: EtcdWatch | undefined;
  #paused = false;
  /** Continues the initial state once the reader has room again. */
  #roomWanted: (() => void) | undefined;
  readonly #onAbort = (): void => this.terminate();

  constructor(ctx: StoreContext, request: WatchChanRequest) {
    this.#ctx = ctx;
    this.#request = request;
    request.signal?.addEventListener('abort', this.#onAbort, { once: true });
    if (request.signal?.aborted) this.terminate();
    else void this.#run();
  }

  next(): StorageWatchEvent | undefined {
    const event = this.#queue[this.#head];
    if (event === undefined) return undefined;
    this.#head++;
    if (this.#head === this.#queue.length) {
      this.#queue = [];
      this.#head = 0;
    } else if (this.#head >= 1024 && this.#head * 2 >= this.#queue.length) {
      this.#queue.splice(0, this.#head);
      this.#head = 0;
    }
    if (this.#waiting < BUFFERED_EVENTS) this.#hasRoom();
    return event;
  }

  get done(): boolean {
    return this.#ended && this.#waiting === 0;
  }

  onReadable(listener: () => void): void {
    this.#listener = listener;
  }

  /** Called once when the watch ends, for the owner's book-keeping. */
  onEnd(run: () => void): void {
    this.#onEnd = run;
  }

  stop(): void {
    this.#listener = undefined;
    this.terminate();
  }

  /** Ends the watch from the server's side: no ERROR, and what is waiting is dropped. */
  terminate(): void {
    this.#queue = [];
    this.#head = 0;
    this.#finish();
  }

  get #waiting(): number {
    return this.#queue.length - this.#head;
  }

  async #run(): Promise<void> {
    const { initialEvents, initialEventsEndBookmark } = this.#request;
    let { revision } = this.#request;
    try {
      if (revision > 0 && initialEvents) await this.#checkNotTooLarge(revision);
      if (initialEvents) revision = await this.#sync();
    } catch (error) {
      this.#fail(interpretWatchError(error));
      return;
    }
    if (this.#ended) return;
    if (initialEventsEndBookmark) {
      const { nullCreationTimestamp } = this.#ctx.profile.behaviours;
      const object = makeBookmark(this.#ctx.config, revision, { initialEventsEnd: true, nullCreationTimestamp });
      this.#push({ type: 'BOOKMARK', object });
    }
    this.#watchEtcd(revision);
    this.#notify();
  }

  async #checkNotTooLarge(revision: Revision): Promise<void> {
    const { key, signal } = this.#request;
    const current = (await this.#ctx.etcd.range({ key, countOnly: true }, signal)).revision;
    if (revision <= current) return;
    // One second, stretched by up to three more so that clients do not come back at once.
    const retryAfterSeconds = Math.trunc(1 + this.#ctx.random() * 3);
    throw newTooLargeResourceVersion(
      formatResourceVersion(revision),
      formatResourceVersion(current),
      retryAfterSeconds,
    );
  }

  /** Sends the present state in key order and returns its revision. */
  async #sync(): Promise<Revision> {
    const { key, recursive, predicate, signal } = this.#request;
    let from = key;
    let revision = 0;
    for (;;) {
      const page = await this.#ctx.etcd.range(
        { key: from, rangeEnd: recursive ? prefixEnd(key) : undefined, limit: PAGE_SIZE, revision },
        signal,
      );
      if (this.#ended) return revision;
      revision = revision === 0 ? page.revision : revision;
      for (const kv of page.kvs) {
        const stored = this.#ctx.decoder.decode(kv);
        if (matchesObject(predicate, stored.object)) this.#push({ type: 'ADDED', object: stored });
      }
      if (this.#waiting > 0) this.#notify();
      if (!page.more) return revision;
      from = `${page.kvs.at(-1)!.key}\0`;
      while (!this.#ended && this.#waiting >= BUFFERED_EVENTS) {
        await new Promise<void>((resolve) => {
          this.#roomWanted = resolve;
        });
      }
    }
  }

  #watchEtcd(after: Revision): void {
    const { key, recursive } = this.#request;
    this.#etcdWatch = this.#ctx.etcd.watch(
      { key, rangeEnd: recursive ? prefixEnd(key) : undefined, startRevision: after + 1, prevKv: true },
      {
        events: (events) => this.#onEvents(events),
        ended: (error) => (error === undefined ? this.#finish() : this.#fail(interpretWatchError(error))),
      },
    );
    if (this.#waiting >= BUFFERED_EVENTS) this.#pause();
  }

  #onEvents(events: readonly EtcdEvent[]): void {
    const { decoder, eventsReceived } = this.#ctx;
    const before = this.#queue.length;
    eventsReceived.inc(events.length);
    for (const event of events) {
      let wanted: StorageWatchEvent | undefined;
      try {
        wanted = transform(decoder, this.#request.predicate, event);
      } catch (error) {
        this.#fail(interpretWatchError(error));
        return;
      }
      if (wanted !== undefined) this.#push(wanted);
    }
    if (this.#waiting >= BUFFERED_EVENTS) this.#pause();
    if (this.#queue.length > before) this.#notify();
  }

  /** One reader's mistake must not reach the writer whose change it was told of. */
  #notify(): void {
    try {
      this.#listener?.();
    } catch (error) {
      this.stop();
      this.#ctx.logger.error('reader of a watch failed', { prefix: this.#ctx.config.resourcePrefix, error });
    }
  }

  #push(event: StorageWatchEvent): void {
    this.#queue.push(event);
  }

  #pause(): void {
    this.#paused = true;
    this.#etcdWatch?.pause();
  }

  #hasRoom(): void {
    if (this.#paused) {
      this.#paused = false;
      this.#etcdWatch?.resume();
    }
    const wanted = this.#roomWanted;
    this.#roomWanted = undefined;
    wanted?.();
  }

  #fail(error: StatusError): void {
    if (this.#ended) return;
    this.#push({ type: 'ERROR', status: error.status });
    this.#finish();
  }

  #finish(): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#etcdWatch?.cancel();
    this.#request.signal?.removeEventListener('abort', this.#onAbort);
    this.#hasRoom();
    this.#onEnd?.();
    this.#notify();
  }
}
