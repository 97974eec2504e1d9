// The watch cache in front of a store. Writes, and reads that only etcd can answer, are handed on to the store.
// Upstream: apiserver@v0.30.3:pkg/storage/cacher/cacher.go#Cacher
import { formatGroupResource } from '@kube-rx/apimachinery';
import type { Revision } from '../../etcd/client.ts';
import type { ApiObject } from '../api-object.ts';
import { formatResourceVersion } from '../api-object-versioner.ts';
import type {
  GuaranteedUpdateOptions,
  StorageDeleteOptions,
  StorageGetOptions,
  StorageInterface,
  StorageList,
  StorageListOptions,
  StorageWatch,
} from '../interfaces.ts';
import type { ResourceStorage, ResourceStorageConfig } from '../storage-factory.ts';
import type { StoredObject } from '../stored-object.ts';
import { CacherCore, type CacherOptions } from './cacher-core.ts';
import { getFromCache, listFromCache } from './cacher-read.ts';
import { watchFromCache } from './cacher-watch.ts';
import { type CacherInspection, inspectCacher } from './inspect.ts';

export class Cacher implements ResourceStorage {
  readonly config: ResourceStorageConfig;
  readonly #core: CacherCore;
  readonly #store: StorageInterface;

  /** Starts to list and watch the store at once, in the background. */
  constructor(options: CacherOptions) {
    this.config = options.config;
    this.#core = new CacherCore(options);
    this.#store = options.store;
    this.#core.loop.start();
  }

  create(
    key: string,
    object: ApiObject,
    options?: { readonly ttlSeconds?: number | undefined; readonly signal?: AbortSignal | undefined },
  ): Promise<StoredObject> {
    return this.#store.create(key, object, options);
  }

  delete(key: string, options: StorageDeleteOptions = {}): Promise<StoredObject> {
    return this.#store.delete(key, this.#withGuess(key, options));
  }

  get(key: string, options: StorageGetOptions = {}): Promise<StoredObject> {
    return getFromCache(this.#core, key, options);
  }

  getList(key: string, options: StorageListOptions): Promise<StorageList> {
    return listFromCache(this.#core, key, options);
  }

  watch(key: string, options: StorageListOptions): Promise<StorageWatch> {
    return watchFromCache(this.#core, key, options);
  }

  guaranteedUpdate(
    key: string,
    tryUpdate: Parameters<StorageInterface['guaranteedUpdate']>[1],
    options: GuaranteedUpdateOptions = {},
  ): ReturnType<StorageInterface['guaranteedUpdate']> {
    return this.#store.guaranteedUpdate(key, tryUpdate, this.#withGuess(key, options));
  }

  count(prefix: string, signal?: AbortSignal): Promise<number> {
    return this.#store.count(prefix, signal);
  }

  currentRevision(signal?: AbortSignal): Promise<Revision> {
    return this.#store.currentRevision(signal);
  }

  /** Resolves when the cache can serve. */
  async whenReady(signal?: AbortSignal): Promise<void> {
    await this.#core.ready.wait(signal);
  }

  get ready(): boolean {
    return this.#core.ready.check() !== undefined;
  }

  /** For tests: forgets the ring, as if many changes had come by; a watch from before this moment is 410. */
  slideWindow(): string {
    this.#core.cache.slideWindow();
    return formatResourceVersion(this.#core.cache.revision);
  }

  /** For tests: as if the cache's own watch had broken. Watches end after the usual pause of a second. */
  reinitialize(): void {
    this.#core.loop.restart();
  }

  inspect(): CacherInspection {
    return inspectCacher(this.#core, formatGroupResource(this.config.groupResource));
  }

  close(): Promise<void> {
    return this.#core.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  #withGuess<O extends { readonly cachedExistingObject?: StoredObject | undefined }>(key: string, options: O): O {
    if (options.cachedExistingObject !== undefined) return options;
    const guess = this.#core.cache.get(key);
    return guess === undefined ? options : { ...options, cachedExistingObject: guess.stored };
  }
}
