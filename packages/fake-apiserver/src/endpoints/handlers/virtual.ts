// Kinds that are answered at once and never stored: reviews of tokens and of access.
import type { VirtualResource } from '../../registry/rest.ts';
import type { EndpointsContext, Exchange } from '../exchange.ts';
import { MAX_BODY_BYTES } from '../exchange.ts';
import { ensureNamespace, namespaceOf } from '../naming.ts';
import { negotiateOutput } from '../negotiation.ts';
import { inputMediaType, readLimited } from '../request-body.ts';
import { writeValue } from '../response-writers.ts';
import { decodeWriteOptions, managerOrUserAgent } from '../write-options-codec.ts';

export async function handleVirtualCreate(
  server: EndpointsContext,
  exchange: Exchange,
  virtual: VirtualResource,
): Promise<void> {
  const { info, request, response, ctx } = exchange;
  const negotiated = negotiateOutput(request.header('accept'), { protobuf: 'all', transforms: true });
  const mediaType = inputMediaType(request, virtual.info);
  const body = await readLimited(request, MAX_BODY_BYTES);
  const options = decodeWriteOptions(request.query, 'CreateOptions');
  const decoded = server.decoder.decode(body, mediaType, virtual, options.fieldValidation, ctx);
  const namespace = namespaceOf(info);
  const manager = managerOrUserAgent(options.fieldManager, request.header('user-agent') ?? '');
  const object = server.fieldManagers.create(virtual, ensureNamespace(decoded, namespace), manager);
  const result = await virtual.create(ctx, object, { namespace, dryRun: options.dryRun });
  return writeValue(request, response, 201, result, { ...negotiated, target: undefined });
}
