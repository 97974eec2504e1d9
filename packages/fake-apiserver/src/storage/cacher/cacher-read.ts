// Which gets and lists the cache answers, and how.
// Upstream: apiserver@v0.30.3:pkg/storage/cacher/cacher.go#shouldDelegateList, #GetList, #Get
import { isTooLargeResourceVersion, newBadRequest, newTooManyRequests } from '@kube-rx/apimachinery';
import type { Revision } from '../../etcd/client.ts';
import { canonicalResourceVersion, formatResourceVersion, parseResourceVersion } from '../api-object-versioner.ts';
import { encodeContinue } from '../continue.ts';
import { keyNotFound } from '../errors.ts';
import type { StorageGetOptions, StorageList, StorageListOptions } from '../interfaces.ts';
import { prepareKey, preparePrefix } from '../keys.ts';
import { matchesAttributes, predicateIsEmpty } from '../selection-predicate.ts';
import type { StoredObject } from '../stored-object.ts';
import type { CacherCore } from './cacher-core.ts';
import type { StoreElement } from './store-element.ts';

const RETRY_AFTER_SECONDS = 1;

export async function getFromCache(core: CacherCore, path: string, options: StorageGetOptions): Promise<StoredObject> {
  const { store, profile } = core.options;
  const { resourceVersion = '', signal } = options;
  if (resourceVersion === '') return store.get(path, options);
  const key = prepareKey(path);
  const revision = parseResourceVersion(resourceVersion);
  const ready = core.ready.check() !== undefined;
  const resilient = profile.gates.ResilientWatchCacheInitialization && core.ready.state === 'pending';
  if (!ready && (revision === 0 || resilient)) return store.get(path, options);
  if (!ready || signal?.aborted) await core.ready.wait(signal);
  await core.freshness.wait(revision, canonicalResourceVersion(resourceVersion));
  const element = core.cache.get(key);
  if (element === undefined) throw keyNotFound(key, core.cache.revision);
  return element.stored;
}

export async function listFromCache(core: CacherCore, path: string, options: StorageListOptions): Promise<StorageList> {
  const { store, profile } = core.options;
  if (shouldDelegateList(core, options)) return store.getList(path, options);
  const { resourceVersion = '', signal } = options;
  let revision = parseListVersion(core, resourceVersion);
  if (core.ready.check() === undefined) {
    if (core.ready.state === 'pending') {
      if (profile.gates.ResilientWatchCacheInitialization) {
        if (options.predicate.limit > 0 && predicateIsEmpty(options.predicate)) return store.getList(path, options);
        throw reinitializing();
      }
      if (revision === 0) return store.getList(path, options);
    }
  }
  if (core.ready.check() === undefined || signal?.aborted) await core.ready.wait(signal);
  if (resourceVersion !== '') {
    await core.freshness.wait(revision, canonicalResourceVersion(resourceVersion));
    return readList(core, path, options);
  }
  revision = await store.currentRevision(signal);
  try {
    await core.freshness.wait(revision, formatResourceVersion(revision));
  } catch (error) {
    // A cache that lags behind must not make a consistent list impossible.
    if (!isTooLargeResourceVersion(error) || !profile.behaviours.limitFromCache) throw error;
    return store.getList(path, options);
  }
  return readList(core, path, options);
}

/** Up to 1.32 a cached list that cannot read its version fails like a watch, with a 500. */
function parseListVersion(core: CacherCore, resourceVersion: string): Revision {
  try {
    return parseResourceVersion(resourceVersion);
  } catch (error) {
    if (!core.options.profile.behaviours.badVersionOnListIsBadRequest) throw error;
    throw newBadRequest(`invalid resource version: ${error instanceof Error ? error.message : String(error)}`);
  }
}

export const reinitializing = (): Error => newTooManyRequests('storage is (re)initializing', RETRY_AFTER_SECONDS);

/** Some lists only etcd can answer: those of a past revision and, by default, those that must be up to date. */
function shouldDelegateList(core: CacherCore, options: StorageListOptions): boolean {
  const { gates, behaviours } = core.options.profile;
  const { resourceVersion = '', resourceVersionMatch, predicate } = options;
  if (predicate.continue !== '') return true;
  if (resourceVersionMatch !== undefined && resourceVersionMatch !== 'NotOlderThan') return true;
  if (resourceVersion === '' && !gates.ConsistentListFromCache) return true;
  if (predicate.limit <= 0 || resourceVersion === '0') return false;
  if (!behaviours.limitFromCache) return true;
  return resourceVersionMatch === undefined && resourceVersion !== '';
}

function readList(core: CacherCore, path: string, options: StorageListOptions): StorageList {
  const { recursive = true, predicate } = options;
  const { cache, getAttributes, listCounters } = core;
  const prefix = recursive ? preparePrefix(path) : prepareKey(path);
  const fetched = recursive ? cache.below(prefix) : single(cache.get(prefix));
  const wanted = predicateIsEmpty(predicate)
    ? fetched
    : fetched.filter((element) => matchesAttributes(predicate, element.attributes(getAttributes)));
  listCounters.total.inc();
  listCounters.fetched.inc(fetched.length);
  listCounters.returned.inc(wanted.length);
  return page(core, { wanted, prefix, options, revision: cache.revision });
}

interface PageInput {
  readonly wanted: readonly StoreElement[];
  readonly prefix: string;
  readonly options: StorageListOptions;
  readonly revision: Revision;
}

function page(core: CacherCore, { wanted, prefix, options, revision }: PageInput): StorageList {
  const { predicate, resourceVersion, recursive = true } = options;
  const resourceVersionRead = formatResourceVersion(revision);
  const limited = core.options.profile.behaviours.limitFromCache && recursive && resourceVersion !== '0';
  const limit = limited && predicate.limit > 0 ? predicate.limit : wanted.length;
  const items = wanted.length > limit ? wanted.slice(0, limit).map(storedOf) : wanted.map(storedOf);
  if (items.length === wanted.length) return { items, resourceVersion: resourceVersionRead, continue: '' };
  return {
    items,
    resourceVersion: resourceVersionRead,
    // The cache's own keys are relative with a leading slash; both forms are read.
    continue: encodeContinue(`${prefix}/${items.at(-1)!.key.slice(prefix.length)}\0`, prefix, revision),
    ...(predicateIsEmpty(predicate) ? { remainingItemCount: wanted.length - items.length } : {}),
  };
}

const storedOf = (element: StoreElement): StoredObject => element.stored;

function single(element: StoreElement | undefined): readonly StoreElement[] {
  return element === undefined ? [] : [element];
}
