// Answers with one stored object in the negotiated form.
import type { ResourceStore } from '../registry/rest.ts';
import type { StoredObject } from '../storage/stored-object.ts';
import type { EndpointsContext, Exchange } from './exchange.ts';
import { type NegotiatedMediaType, negotiateOutput } from './negotiation.ts';
import { writeBytes, writeJsonBytes } from './response-writers.ts';
import { objectEncoder, restrictionsOf } from './transform.ts';

/** Throws the 406 of a client that takes nothing the resource can be sent as. */
export function negotiateFor(server: EndpointsContext, exchange: Exchange, store: ResourceStore): NegotiatedMediaType {
  const restrictions = restrictionsOf(store.info, server.protobuf !== undefined);
  return negotiateOutput(exchange.request.header('accept'), restrictions);
}

export function writeStored(
  server: EndpointsContext,
  exchange: Exchange,
  store: ResourceStore,
  code: number,
  stored: StoredObject,
  negotiated: NegotiatedMediaType,
): Promise<void> {
  const { request, response } = exchange;
  const encoder = objectEncoder(store, negotiated, request.query);
  if (negotiated.mediaType === 'application/vnd.kubernetes.protobuf' && server.protobuf !== undefined) {
    const object = negotiated.target === undefined ? stored.object : JSON.parse(encoder.encode(stored).toString());
    return writeBytes(request, response, code, negotiated.mediaType, [server.protobuf.encode(object)]);
  }
  return writeJsonBytes(request, response, code, [encoder.encode(stored)], negotiated);
}
