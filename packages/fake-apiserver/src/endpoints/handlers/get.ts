// GET of one object.
// Upstream: apiserver@v0.30.3:pkg/endpoints/handlers/get.go#GetResource
import { newBadRequest } from '@kube-rx/apimachinery';
import type { ResourceStore } from '../../registry/rest.ts';
import type { Exchange } from '../exchange.ts';
import { requireName } from '../naming.ts';
import { decodeBool } from '../parameter-codec.ts';
import { negotiateFor, writeStored } from '../write-result.ts';

export async function handleGet(exchange: Exchange, store: ResourceStore): Promise<void> {
  const { info, request, ctx } = exchange;
  const { namespace, name } = requireName(info);
  const negotiated = negotiateFor(exchange, store);
  if (decodeBool(request.query, 'export')) {
    throw newBadRequest('the export parameter, deprecated since v1.14, is no longer supported');
  }
  const resourceVersion = request.query.first('resourceVersion') ?? '';
  const stored = await store.get(ctx, { namespace, name, resourceVersion });
  await writeStored(exchange, store, 200, stored, negotiated);
}
