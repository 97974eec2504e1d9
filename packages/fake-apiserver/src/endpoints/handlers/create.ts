// POST of an object to its collection.
// Upstream: apiserver@v0.30.3:pkg/endpoints/handlers/create.go#createHandler
import type { ResourceStore } from '../../registry/rest.ts';
import type { EndpointsContext, Exchange } from '../exchange.ts';
import { MAX_BODY_BYTES } from '../exchange.ts';
import { ensureNamespace, namespaceOf, withoutSystemFields } from '../naming.ts';
import { inputMediaType, readLimited } from '../request-body.ts';
import { decodeWriteOptions, managerOrUserAgent } from '../write-options-codec.ts';
import { negotiateFor, writeStored } from '../write-result.ts';

export async function handleCreate(server: EndpointsContext, exchange: Exchange, store: ResourceStore): Promise<void> {
  const { info, request, ctx } = exchange;
  const negotiated = negotiateFor(exchange, store);
  const mediaType = inputMediaType(request, store.info);
  const body = await readLimited(request, MAX_BODY_BYTES);
  const options = decodeWriteOptions(request.query, 'CreateOptions');
  const decoded = server.decoder.decode(body, mediaType, store, options.fieldValidation, ctx);
  const namespace = namespaceOf(info);
  const defaulted = ensureNamespace(store.applyDefaults(withoutSystemFields(decoded)), namespace);
  const manager = managerOrUserAgent(options.fieldManager, request.header('user-agent') ?? '');
  const object = server.fieldManagers.create(store, defaulted, manager);
  const result = await store.create(ctx, object, { namespace, dryRun: options.dryRun });
  await writeStored(exchange, store, 201, result.stored, negotiated);
}
