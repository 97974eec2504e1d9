// DeleteOptions of a request: a body wins over the query; mistakes in a body are 500s, as upstream.
// Upstream: apiserver@v0.30.3:pkg/endpoints/handlers/delete.go#DeleteResource
import type { DeleteOptions, DeletionPropagation } from '@kube-rx/apimachinery';
import { goQuote, newUnknownError } from '@kube-rx/apimachinery';
import { decodeProtobuf } from '../protobuf/index.ts';
import type { EndpointsContext, Exchange } from './exchange.ts';
import { MAX_BODY_BYTES } from './exchange.ts';
import { bodyToJson, readKind } from './object-decoder.ts';
import { inputMediaType, readLimited } from './request-body.ts';
import { decodeDeleteOptions, validateDeleteOptions } from './write-options-codec.ts';

export async function readDeleteOptions(server: EndpointsContext, exchange: Exchange): Promise<DeleteOptions> {
  const { request } = exchange;
  const body = await readLimited(request, MAX_BODY_BYTES);
  const options = body.length === 0 ? decodeDeleteOptions(request.query) : fromBody(server, exchange, body);
  validateDeleteOptions(options);
  return options;
}

function fromBody(server: EndpointsContext, exchange: Exchange, body: Buffer): DeleteOptions {
  const mediaType = inputMediaType(exchange.request, undefined);
  try {
    if (mediaType === 'application/vnd.kubernetes.protobuf') {
      return pick(decodeProtobuf(body, { apiVersion: 'meta.k8s.io/v1', kind: 'DeleteOptions' }));
    }
    const text = bodyToJson(body, mediaType);
    const { kind, apiVersion } = readKind(text);
    if (kind !== '' && kind !== 'DeleteOptions') {
      const version = apiVersion === '' ? 'meta.k8s.io/v1' : apiVersion;
      throw new Error(
        `no kind ${goQuote(kind)} is registered for version ${goQuote(version)} in scheme "pkg/runtime/scheme.go:100"`,
      );
    }
    const value: unknown = server.decoder.decodeNamed(text, 'io.k8s.apimachinery.pkg.apis.meta.v1.DeleteOptions');
    return pick(typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {});
  } catch (error) {
    throw newUnknownError(error instanceof Error ? error.message : String(error));
  }
}

function pick(value: Readonly<Record<string, unknown>>): DeleteOptions {
  const { gracePeriodSeconds, preconditions, orphanDependents, propagationPolicy, dryRun } = value;
  const conditions = typeof preconditions === 'object' && preconditions !== null ? preconditions : undefined;
  return {
    ...(typeof gracePeriodSeconds === 'number' ? { gracePeriodSeconds } : {}),
    ...(conditions === undefined ? {} : { preconditions: conditions as NonNullable<DeleteOptions['preconditions']> }),
    ...(typeof orphanDependents === 'boolean' ? { orphanDependents } : {}),
    ...(typeof propagationPolicy === 'string' ? { propagationPolicy: propagationPolicy as DeletionPropagation } : {}),
    ...(Array.isArray(dryRun) && dryRun.length > 0 ? { dryRun: dryRun.map(String) } : {}),
  };
}
