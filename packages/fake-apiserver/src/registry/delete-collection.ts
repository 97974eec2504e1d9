// Deletes what a list finds, page by page; not atomic.
// Upstream: apiserver@v0.30.3:pkg/registry/generic/registry/store.go#Store.DeleteCollection
import { isNotFound } from '@kube-rx/apimachinery';
import type { StorageList } from '../storage/interfaces.ts';
import type { StoredObject } from '../storage/stored-object.ts';
import type { ListCall, RequestContext, ResourceStore } from './rest.ts';
import type { VerbTarget } from './verb-target.ts';

const PAGE_SIZE = 10_000;

/** The items as they were listed; of a limited call one page and its continue token. */
export async function deleteCollection(
  store: VerbTarget,
  ctx: RequestContext,
  call: Parameters<ResourceStore['deleteCollection']>[1],
): Promise<StorageList> {
  const dryRun = call.dryRun ? ['All'] : (call.options.dryRun ?? []);
  const options = dryRun.length === 0 ? call.options : { ...call.options, dryRun };
  const { deleteWarning } = store.core.strategy;
  const decided = options.propagationPolicy !== undefined || options.orphanDependents !== undefined;
  if (deleteWarning !== undefined && !decided) ctx.warn(deleteWarning);
  const limited = call.list.limit > 0;
  let page: ListCall = limited ? call.list : { ...call.list, limit: PAGE_SIZE };
  const items: StoredObject[] = [];
  let first: StorageList | undefined;
  for (;;) {
    const list = await store.list(ctx, page);
    first ??= list;
    items.push(...list.items);
    for (const item of list.items) {
      const { name = '', namespace = '' } = item.object.metadata;
      try {
        await store.delete(ctx, { namespace, name, options });
      } catch (error) {
        if (!isNotFound(error)) throw error;
      }
    }
    if (limited) return list;
    if (list.continue === '') break;
    page = { ...page, continue: list.continue, resourceVersion: '', resourceVersionMatch: undefined };
  }
  return { ...first, items, continue: '', remainingItemCount: undefined };
}
