// Removes every object of a custom resource, and waits for those that finalizers hold.
// Upstream: apiextensions-apiserver@v0.30.3:pkg/controller/finalizer/crd_finalizer.go#deleteInstances
// Differs: waits for the deletes themselves where upstream looks every five seconds and gives up after a minute.
import { everythingFields, everythingLabels } from '@kube-rx/apimachinery';
import type { StorageWatch } from '../../storage/interfaces.ts';
import type { ListCall, RequestContext } from '../rest.ts';
import type { Store } from '../store.ts';
import { EVERYTHING } from './crd-feed.ts';

const listCall = (namespace: string): ListCall => ({
  namespace,
  labelSelector: everythingLabels,
  fieldSelector: everythingFields,
  resourceVersion: '',
  resourceVersionMatch: undefined,
  limit: 0,
  continue: '',
});

/** Resolves when no object is left; rejects when the context's signal aborts. */
export async function deleteInstances(store: Store, ctx: RequestContext): Promise<void> {
  const { items } = await store.list(ctx, listCall(''));
  const namespaces = new Set(items.map((item) => item.object.metadata.namespace ?? ''));
  for (const namespace of namespaces) {
    await store.deleteCollection(ctx, { namespace, options: {}, list: listCall(namespace), dryRun: false });
  }
  const { storage, prefix } = store.core;
  const key = `${prefix}/`;
  const { signal } = ctx;
  for (;;) {
    const left = await storage.getList(key, { predicate: EVERYTHING, signal });
    if (left.items.length === 0) return;
    const watch = await storage.watch(key, { predicate: EVERYTHING, resourceVersion: left.resourceVersion, signal });
    await nextDelete(watch, signal);
  }
}

/** Resolves at the next delete, or when the watch ends for whatever reason. */
function nextDelete(watch: StorageWatch, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const settle = (): void => {
      signal.removeEventListener('abort', abort);
      watch.stop();
      resolve();
    };
    const abort = (): void => {
      watch.stop();
      reject(signal.reason as Error);
    };
    const read = (): void => {
      for (let event = watch.next(); event !== undefined; event = watch.next()) {
        if (event.type === 'DELETED' || event.type === 'ERROR') {
          settle();
          return;
        }
      }
      if (watch.done) settle();
    };
    signal.addEventListener('abort', abort, { once: true });
    watch.onReadable(read);
    if (signal.aborted) abort();
    else read();
  });
}
