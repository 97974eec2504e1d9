// GET of a collection: a list, or the way into a watch.
// Upstream: apiserver@v0.30.3:pkg/endpoints/handlers/get.go#ListResource
import { fieldSelectorFromSet, newBadRequest } from '@kube-rx/apimachinery';
import type { ListCall, ResourceStore } from '../../registry/rest.ts';
import type { StorageList } from '../../storage/interfaces.ts';
import type { EndpointsContext, Exchange } from '../exchange.ts';
import {
  type DecodedListOptions,
  decodeListOptions,
  defaultListOptions,
  validatedMatch,
  validateListOptions,
} from '../list-options-codec.ts';
import { namespaceOf } from '../naming.ts';
import type { NegotiatedMediaType } from '../negotiation.ts';
import { writeBytes, writeJsonBytes } from '../response-writers.ts';
import { encodeList } from '../transform.ts';
import { negotiateFor } from '../write-result.ts';
import { handleWatch } from './watch.ts';

/** `forceWatch` is the deprecated path prefix: the options are still those of a list. */
export async function handleList(
  server: EndpointsContext,
  exchange: Exchange,
  store: ResourceStore,
  forceWatch: boolean,
): Promise<void> {
  const { info, request, ctx } = exchange;
  const negotiated = negotiateFor(exchange, store);
  const decoded = decodeListOptions(request.query);
  const options = defaultListOptions(decoded, server.watchListEnabled);
  validateListOptions(options, server.watchListEnabled);
  const call = listCall(store, options, namespaceOf(info), forceWatch ? info.name : '');
  if (options.watch || forceWatch) return handleWatch(server, exchange, store, negotiated, options, call);
  const list = await store.list(ctx, call);
  await writeList(exchange, store, list, negotiated);
}

export function listCall(
  store: ResourceStore,
  options: DecodedListOptions,
  namespace: string,
  pathName: string,
): ListCall {
  let fieldSelector = options.fieldSelector;
  if (!fieldSelector.empty) fieldSelector = store.convertFieldSelector(fieldSelector);
  if (pathName !== '') {
    const selected = fieldSelector.empty ? pathName : fieldSelector.requiresExactMatch('metadata.name');
    if (selected !== pathName || fieldSelector.requirements.length > 1) {
      throw newBadRequest("fieldSelector metadata.name doesn't match requested name");
    }
    fieldSelector = fieldSelectorFromSet({ 'metadata.name': pathName });
  }
  return {
    namespace,
    labelSelector: options.labelSelector,
    fieldSelector,
    resourceVersion: options.resourceVersion,
    resourceVersionMatch: validatedMatch(options),
    limit: Math.max(options.limit, 0),
    continue: options.continue,
  };
}

export async function writeList(
  exchange: Exchange,
  store: ResourceStore,
  list: StorageList,
  negotiated: NegotiatedMediaType,
): Promise<void> {
  const { request, response } = exchange;
  const bytes = await encodeList(store, list, negotiated, request.query);
  if (negotiated.mediaType === 'application/vnd.kubernetes.protobuf') {
    return writeBytes(request, response, 200, negotiated.mediaType, bytes);
  }
  return writeJsonBytes(request, response, 200, bytes, negotiated);
}
