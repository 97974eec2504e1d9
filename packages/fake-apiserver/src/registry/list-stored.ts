// Reads all objects of a kind, or of a kind in a namespace, for the server's own use: from the cache, without a selector.
import { everythingFields, everythingLabels } from '@kube-rx/apimachinery';
import type { ApiObject } from '../storage/api-object.ts';
import type { SelectionPredicate } from '../storage/selection-predicate.ts';
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

/** In the stored version. Not older than what the cache has; `namespace` '' means all. */
export async function listStored(
  store: Store,
  namespace: string,
  signal?: AbortSignal | undefined,
): Promise<readonly ApiObject[]> {
  const { storage, prefix, strategy } = store.core;
  const key = listKey(prefix, strategy.namespaced, namespace);
  const list = await storage.getList(key, { resourceVersion: '0', recursive: true, predicate: EVERYTHING, signal });
  return list.items.map((item) => item.object);
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
