// Answers to requests below /openapi, without a server around them.
// Upstream: kube-openapi@70dd3763d340:pkg/handler3/handler.go#HandleGroupVersion, pkg/handler/handler.go#RegisterOpenAPIVersionedService
import type { OpenApi, OpenApiBody } from './openapi.ts';

export interface OpenApiRequest {
  /** Without the query, e.g. `/openapi/v3/apis/apps/v1`. */
  readonly path: string;
  /** The `hash` of the query; '' when there is none. */
  readonly hash: string;
  /** Header Accept; '' when there is none. */
  readonly accept: string;
  /** Header If-None-Match; '' when there is none. */
  readonly ifNoneMatch: string;
}

export interface OpenApiResponse {
  readonly status: 200 | 301 | 304 | 404 | 406;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
}

const JSON_TYPE = 'application/json';
const SWAGGER_PROTOBUF = 'application/com.github.proto-openapi.spec.v2@v1.0+protobuf';
const SWAGGER_PROTOBUF_OLD = 'application/com.github.proto-openapi.spec.v2.v1.0+protobuf';
const EMPTY = new Uint8Array(0);

/** Media types by preference; quality values are not weighed, as upstream takes the first that fits. */
function accepted(accept: string): string[] {
  const types = accept.split(',').map((clause) => clause.split(';')[0]!.trim());
  return accept.trim() === '' ? ['*/*'] : types;
}

function answer(body: OpenApiBody, headers: Record<string, string>, ifNoneMatch: string): OpenApiResponse {
  const etag = `"${body.hash}"`;
  const known = ifNoneMatch.split(',').some((tag) => tag.trim().replace(/^W\//, '') === etag || tag.trim() === '*');
  if (known) {
    const { 'content-type': _, ...rest } = headers;
    return { status: 304, headers: { ...rest, etag }, body: EMPTY };
  }
  return { status: 200, headers: { ...headers, etag }, body: body.bytes };
}

const failure = (status: 404 | 406, text: string): OpenApiResponse => ({
  status,
  headers: { 'content-type': 'text/plain; charset=utf-8' },
  body: new TextEncoder().encode(text),
});

/** The answer to a request of any method; 404 for paths that are none of these documents. */
export function serveOpenApi(openApi: OpenApi, request: OpenApiRequest): OpenApiResponse {
  if (request.path === '/openapi/v2') return serveV2(openApi, request);
  if (request.path === '/openapi/v3') {
    return answer(openApi.index(), { 'content-type': 'text/plain; charset=utf-8' }, request.ifNoneMatch);
  }
  const body = request.path.startsWith('/openapi/v3/')
    ? openApi.groupVersion(request.path.slice('/openapi/v3/'.length))
    : undefined;
  if (body === undefined) return { status: 404, headers: {}, body: EMPTY };
  if (request.hash !== '' && request.hash !== body.hash) {
    // The document of an index that is out of date.
    return { status: 301, headers: { location: `${request.path}?hash=${body.hash}` }, body: EMPTY };
  }
  const types = accepted(request.accept);
  if (!types.some((type) => type === JSON_TYPE || type === '*/*' || type === 'application/*')) return failure(406, '');
  const caching: Record<string, string> = request.hash === '' ? {} : { 'cache-control': 'public, immutable' };
  return answer(body, { vary: 'Accept', 'content-type': JSON_TYPE, ...caching }, request.ifNoneMatch);
}

function serveV2(openApi: OpenApi, { accept, ifNoneMatch }: OpenApiRequest): OpenApiResponse {
  for (const type of accepted(accept)) {
    if (type === JSON_TYPE || type === '*/*' || type === 'application/*') {
      return answer(openApi.swagger(), { vary: 'Accept', 'content-type': JSON_TYPE }, ifNoneMatch);
    }
    if (type === SWAGGER_PROTOBUF || type === SWAGGER_PROTOBUF_OLD) {
      return answer(openApi.swaggerProtobuf(), { vary: 'Accept', 'content-type': SWAGGER_PROTOBUF_OLD }, ifNoneMatch);
    }
  }
  return failure(406, '');
}
