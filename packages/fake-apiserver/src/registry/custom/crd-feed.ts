// Tells of every CRD there is and of every change: list, watch from there, and again when the watch ends.
// Upstream: client-go's informer in apiextensions-apiserver@v0.30.3:pkg/apiserver/apiserver.go
import { type Clock, everythingFields, everythingLabels, type Logger, sleep } from '@kube-rx/apimachinery';
import type { ApiObject } from '../../storage/api-object.ts';
import type { StorageWatch } from '../../storage/interfaces.ts';
import type { SelectionPredicate } from '../../storage/selection-predicate.ts';
import type { ResourceStorage } from '../../storage/storage-factory.ts';
import { listEverything } from '../list-stored.ts';

const RETRY_MS = 1000;

export interface CrdFeedListener {
  /** Everything there is, after the start and after a gap. */
  replaced(objects: readonly ApiObject[]): void;
  changed(object: ApiObject): void;
  removed(object: ApiObject): void;
}

export const EVERYTHING: SelectionPredicate = {
  label: everythingLabels,
  field: everythingFields,
  getAttributes: (object) => ({ labels: object.metadata.labels, fields: {} }),
  limit: 0,
  continue: '',
  allowWatchBookmarks: false,
};

/** Resolves after the first list was told; goes on until the signal aborts. */
export async function startCrdFeed(
  storage: ResourceStorage,
  listener: CrdFeedListener,
  options: { readonly signal: AbortSignal; readonly clock: Clock; readonly logger: Logger },
): Promise<void> {
  const { signal, clock, logger } = options;
  const key = `${storage.config.resourcePrefix}/`;
  const round = async (): Promise<StorageWatch> => {
    const list = await listEverything(storage, key, '', signal);
    listener.replaced(list.items.map((item) => item.object));
    return storage.watch(key, { predicate: EVERYTHING, resourceVersion: list.resourceVersion, signal });
  };
  const follow = async (first: StorageWatch): Promise<void> => {
    let watch: StorageWatch | undefined = first;
    while (!signal.aborted) {
      try {
        watch ??= await round();
        await drain(watch, listener, signal);
      } catch (error) {
        if (!signal.aborted) logger.warn('watch of custom resource definitions failed', { error });
      }
      watch = undefined;
      if (!signal.aborted) await sleep(clock, RETRY_MS, { signal, unref: true }).catch(() => undefined);
    }
  };
  const watch = await round();
  void follow(watch);
}

/** Reads a watch to its end. */
function drain(watch: StorageWatch, listener: CrdFeedListener, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const end = (): void => {
      signal.removeEventListener('abort', end);
      watch.stop();
      resolve();
    };
    const read = (): void => {
      for (let event = watch.next(); event !== undefined; event = watch.next()) {
        if (event.type === 'ERROR') {
          end();
          return;
        }
        if (event.type === 'DELETED') listener.removed(event.object.object);
        else if (event.type !== 'BOOKMARK') listener.changed(event.object.object);
      }
      if (watch.done) end();
    };
    signal.addEventListener('abort', end, { once: true });
    watch.onReadable(read);
    if (signal.aborted) end();
    else read();
  });
}
