// Reads all objects of a kind, or of a kind in a namespace, for the server's own use: from the cache, without a selector.
import { everythingFields, everythingLabels, isTooManyRequests } from '@kube-rx/apimachinery';
import type { ApiObject } from '../storage/api-object.ts';
import type { StorageInterface, StorageList } from '../storage/interfaces.ts';
import type { SelectionPredicate } from '../storage/selection-predicate.ts';
import type { StoredObject } from '../storage/stored-object.ts';
import { listKey } from './keys.ts';
import type { ResourceCatalog } from './rest.ts';
import { Store } from './store.ts';

const EVERYTHING: SelectionPredicate = {
  label: everythingLabels,
  field: everythingFields,
  getAttributes: () => ({ labels: undefined, fields: {} }),
  limit: 0,
  continue: '',
  allowWatchBookmarks: false,
};

const PAGE_SIZE = 500;

/**
 * Everything below a key. While its cache is being filled a server from 1.34 on refuses plain lists and answers pages from
 * etcd, so that is what is asked for then.
 */
export async function listEverything(
  storage: Pick<StorageInterface, 'getList'>,
  key: string,
  resourceVersion: string,
  signal?: AbortSignal | undefined,
): Promise<StorageList> {
  try {
    return await storage.getList(key, { resourceVersion, predicate: EVERYTHING, signal });
  } catch (error) {
    if (!isTooManyRequests(error)) throw error;
  }
  const items: StoredObject[] = [];
  let next = '';
  for (;;) {
    const predicate = { ...EVERYTHING, limit: PAGE_SIZE, continue: next };
    const page = await storage.getList(key, { resourceVersion: '', predicate, signal });
    items.push(...page.items);
    next = page.continue;
    if (next === '') return { ...page, items };
  }
}

/** In the stored version. Not older than what the cache has; `namespace` '' means all. */
export async function listStored(
  store: Store,
  namespace: string,
  signal?: AbortSignal | undefined,
): Promise<readonly ApiObject[]> {
  const { storage, prefix, strategy } = store.core;
  const { items } = await listEverything(storage, listKey(prefix, strategy.namespaced, namespace), '0', signal);
  return items.map((item) => item.object);
}

/** Objects of a served kind, custom ones included; undefined when it is not served. */
export function findKind(
  catalog: ResourceCatalog,
  apiVersion: string,
  kind: string,
  signal: AbortSignal,
): { readonly namespaced: boolean; list(namespace: string): Promise<readonly ApiObject[]> } | undefined {
  for (const info of catalog.all()) {
    const version = info.group === '' ? info.version : `${info.group}/${info.version}`;
    if (info.kind !== kind || version !== apiVersion) continue;
    const store = catalog.find(info.group, info.version, info.resource);
    if (store instanceof Store)
      return { namespaced: info.namespaced, list: (namespace) => listStored(store, namespace, signal) };
  }
  return undefined;
}
