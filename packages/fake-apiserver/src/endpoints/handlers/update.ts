// PUT of an object or of one of its subresources that share its kind.
// Upstream: apiserver@v0.30.3:pkg/endpoints/handlers/update.go#UpdateResource
import type { ResourceStore } from '../../registry/rest.ts';
import type { EndpointsContext, Exchange } from '../exchange.ts';
import { MAX_BODY_BYTES } from '../exchange.ts';
import { checkName, ensureNamespace, requireName } from '../naming.ts';
import { inputMediaType, readLimited } from '../request-body.ts';
import { decodeWriteOptions, managerOrUserAgent } from '../write-options-codec.ts';
import { negotiateFor, writeStored } from '../write-result.ts';

export async function handleUpdate(
  server: EndpointsContext,
  exchange: Exchange,
  store: ResourceStore,
  subresource: string,
): Promise<void> {
  const { info, request, ctx } = exchange;
  const { namespace, name } = requireName(info);
  const negotiated = negotiateFor(exchange, store);
  const body = await readLimited(request, MAX_BODY_BYTES);
  const options = decodeWriteOptions(request.query, 'UpdateOptions');
  const mediaType = inputMediaType(request, store.info);
  const decoded = server.decoder.decode(body, mediaType, store, options.fieldValidation, ctx);
  const object = ensureNamespace(store.applyDefaults(decoded), namespace);
  checkName(object, name);
  const manager = managerOrUserAgent(options.fieldManager, request.header('user-agent') ?? '');
  const { uid } = object.metadata;
  const result = await store.update(ctx, {
    namespace,
    name,
    subresource,
    dryRun: options.dryRun,
    forceAllowCreate: false,
    preconditions: uid === undefined || uid === '' ? undefined : { uid },
    transform: (existing) => server.fieldManagers.update(store, existing, object, manager, subresource),
  });
  await writeStored(exchange, store, result.created ? 201 : 200, result.stored, negotiated);
}
