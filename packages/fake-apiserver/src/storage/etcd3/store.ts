// Storage of one resource in etcd, without a cache.
// Upstream: apiserver@v0.30.3:pkg/storage/etcd3/store.go
import { newUnknownError } from '@kube-rx/apimachinery';
import { prefixEnd, type Revision, type TxnRequest } from '../../etcd/client.ts';
import type { ApiObject } from '../api-object.ts';
import { parseResourceVersion } from '../api-object-versioner.ts';
import type { BackingStore, BackingWatch, BackingWatchObserver } from '../backing-store.ts';
import { keyExists, keyNotFound } from '../errors.ts';
import type {
  GuaranteedUpdateOptions,
  StorageDeleteOptions,
  StorageGetOptions,
  StorageList,
  StorageListOptions,
  StorageWatch,
} from '../interfaces.ts';
import { prepareKey, preparePrefix } from '../keys.ts';
import type { ResourceStorage, ResourceStorageConfig } from '../storage-factory.ts';
import type { StoredObject } from '../stored-object.ts';
import { conditionalDelete } from './conditional-delete.ts';
import { interpretError, interpretWatchError } from './errors.ts';
import { objectOf, parseEvent } from './event.ts';
import { checkMinimum, getList } from './get-list.ts';
import { type GuaranteedUpdateOutcome, guaranteedUpdate, type TryUpdate } from './guaranteed-update.ts';
import { type Etcd3StoreOptions, makeStoreContext, type StoreContext } from './store-context.ts';
import { WatchChan } from './watch-chan.ts';

/** Everything is read from and written to etcd; see {@link StorageInterface} for what the methods promise. */
export class Etcd3Store implements ResourceStorage, BackingStore {
  readonly config: ResourceStorageConfig;
  readonly #ctx: StoreContext;
  readonly #watches = new Set<WatchChan>();
  #closed = false;

  constructor(options: Etcd3StoreOptions) {
    this.config = options.config;
    this.#ctx = makeStoreContext(options);
  }

  async create(
    path: string,
    object: ApiObject,
    options: { readonly ttlSeconds?: number | undefined; readonly signal?: AbortSignal | undefined } = {},
  ): Promise<StoredObject> {
    const { etcd, config, leases, decoder, measure } = this.#ctx;
    const key = prepareKey(path);
    if (parseResourceVersion(object.metadata.resourceVersion ?? '') !== 0) {
      throw newUnknownError('resourceVersion should not be set on objects to be created');
    }
    const data = config.codec.encode(object);
    const lease = options.ttlSeconds === undefined ? undefined : await leases.getLease(options.ttlSeconds);
    const request: TxnRequest = {
      compare: [{ key, target: 'modRevision', equals: 0 }],
      success: [{ op: 'put', key, value: data, lease }],
      failure: [],
    };
    decoder.writing(object, data);
    const answer = await measure('create', etcd.txn(request, options.signal)).catch(rethrow);
    if (!answer.succeeded) throw keyExists(key);
    return decoder.written(key, object, answer.revision, data);
  }

  delete(key: string, options: StorageDeleteOptions = {}): Promise<StoredObject> {
    return conditionalDelete(this.#ctx, key, options);
  }

  async get(path: string, options: StorageGetOptions = {}): Promise<StoredObject> {
    const key = prepareKey(path);
    const { etcd, measure } = this.#ctx;
    const answer = await measure('get', etcd.range({ key }, options.signal)).catch(rethrow);
    checkMinimum(options.resourceVersion, answer.revision, 0);
    const kv = answer.kvs[0];
    if (kv === undefined) throw keyNotFound(key);
    return this.#ctx.decoder.decode(kv);
  }

  getList(key: string, options: StorageListOptions): Promise<StorageList> {
    return getList(this.#ctx, key, options);
  }

  async watch(path: string, options: StorageListOptions): Promise<StorageWatch> {
    const { recursive = true, predicate, signal } = options;
    const { WatchList } = this.#ctx.profile.gates;
    const sendInitialEvents = WatchList ? options.sendInitialEvents : undefined;
    const key = recursive ? preparePrefix(path) : prepareKey(path);
    const asked = parseResourceVersion(options.resourceVersion ?? '');
    const legacyUnset = sendInitialEvents === undefined && asked === 0;
    let revision = asked;
    let initialEvents = legacyUnset || sendInitialEvents === true;
    if (legacyUnset && (options.resourceVersion ?? '') === '' && this.#fromNow) initialEvents = false;
    if (revision === 0 && !initialEvents) revision = await this.currentRevision(signal);
    const watch = new WatchChan(this.#ctx, {
      key,
      recursive,
      revision,
      predicate,
      initialEvents,
      initialEventsEndBookmark: sendInitialEvents === true && predicate.allowWatchBookmarks,
      signal,
    });
    return this.#own(watch);
  }

  watchAll(prefix: string, after: Revision, observer: BackingWatchObserver): BackingWatch {
    const { etcd, decoder, eventsReceived, progressReceived } = this.#ctx;
    const watch = etcd.watch(
      { key: prefix, rangeEnd: prefixEnd(prefix), startRevision: after + 1, prevKv: true, progressNotify: true },
      {
        events: (events) => {
          eventsReceived.inc(events.length);
          for (const event of events) {
            try {
              const type = parseEvent(event);
              observer.event(type, objectOf(decoder, type, event));
            } catch (error) {
              watch.cancel();
              observer.ended(interpretWatchError(error));
              return;
            }
          }
        },
        progress: (revision) => {
          progressReceived.add(1);
          observer.progress(revision);
        },
        ended: (error) => observer.ended(error === undefined ? undefined : interpretWatchError(error)),
      },
    );
    return {
      pause: () => watch.pause(),
      resume: () => watch.resume(),
      requestProgress: () => watch.requestProgress(),
      stop: () => watch.cancel(),
    };
  }

  guaranteedUpdate(
    key: string,
    tryUpdate: TryUpdate,
    options: GuaranteedUpdateOptions = {},
  ): Promise<GuaranteedUpdateOutcome> {
    return guaranteedUpdate(this.#ctx, key, tryUpdate, options);
  }

  async count(path: string, signal?: AbortSignal): Promise<number> {
    const prefix = preparePrefix(path);
    const request = { key: prefix, rangeEnd: prefixEnd(prefix), countOnly: true };
    const { etcd, measure } = this.#ctx;
    return (await measure('listWithCount', etcd.range(request, signal)).catch(rethrow)).count;
  }

  async currentRevision(signal?: AbortSignal): Promise<Revision> {
    const key = `${this.config.resourcePrefix}/`;
    return (await this.#ctx.etcd.range({ key, countOnly: true }, signal).catch(rethrow)).revision;
  }

  async close(): Promise<void> {
    this.#closed = true;
    for (const watch of [...this.#watches]) watch.terminate();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  get #fromNow(): boolean {
    return this.#ctx.profile.behaviours.emptyResourceVersionWatch === 'from-now';
  }

  #own(watch: WatchChan): StorageWatch {
    if (this.#closed) watch.terminate();
    else if (!watch.done) {
      this.#watches.add(watch);
      watch.onEnd(() => this.#watches.delete(watch));
    }
    return watch;
  }
}

function rethrow(error: unknown): never {
  throw interpretError(error);
}
