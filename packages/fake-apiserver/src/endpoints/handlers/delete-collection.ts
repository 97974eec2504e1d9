// DELETE of a collection.
// Upstream: apiserver@v0.30.3:pkg/endpoints/handlers/delete.go#DeleteCollection
import type { ResourceStore } from '../../registry/rest.ts';
import { readDeleteOptions } from '../delete-options-body.ts';
import type { EndpointsContext, Exchange } from '../exchange.ts';
import { decodeListOptions, defaultListOptions, validateListOptions } from '../list-options-codec.ts';
import { namespaceOf } from '../naming.ts';
import { negotiateFor } from '../write-result.ts';
import { listCall, writeList } from './list.ts';

export async function handleDeleteCollection(
  server: EndpointsContext,
  exchange: Exchange,
  store: ResourceStore,
): Promise<void> {
  const { info, request, ctx } = exchange;
  const negotiated = negotiateFor(exchange, store);
  const listOptions = defaultListOptions(decodeListOptions(request.query), server.watchListEnabled);
  validateListOptions(listOptions, server.watchListEnabled);
  const namespace = namespaceOf(info);
  const list = listCall(store, listOptions, namespace, '');
  const options = await readDeleteOptions(server, exchange);
  const dryRun = (options.dryRun ?? []).length > 0;
  const deleted = await store.deleteCollection(ctx, { namespace, options, list, dryRun });
  await writeList(exchange, store, deleted, negotiated);
}
