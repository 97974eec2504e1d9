// Answers with one stored object in the negotiated form.
import type { ResourceStore } from '../registry/rest.ts';
import type { StoredObject } from '../storage/stored-object.ts';
import type { Exchange } from './exchange.ts';
import { type NegotiatedMediaType, negotiateOutput } from './negotiation.ts';
import { writeBytes, writeJsonBytes } from './response-writers.ts';
import { objectEncoder, restrictionsOf } from './transform.ts';

/** Throws the 406 of a client that takes nothing the resource can be sent as. */
export function negotiateFor(exchange: Exchange, store: ResourceStore): NegotiatedMediaType {
  const restrictions = restrictionsOf(store.info);
  return negotiateOutput(exchange.request.header('accept'), restrictions);
}

export function writeStored(
  exchange: Exchange,
  store: ResourceStore,
  code: number,
  stored: StoredObject,
  negotiated: NegotiatedMediaType,
): Promise<void> {
  const { request, response } = exchange;
  const encoder = objectEncoder(store, negotiated, request.query);
  if (negotiated.mediaType === 'application/vnd.kubernetes.protobuf') {
    return writeBytes(request, response, code, negotiated.mediaType, [encoder.encode(stored)]);
  }
  return writeJsonBytes(request, response, code, [encoder.encode(stored)], negotiated);
}
