// Which media type and which transformation an answer gets.
// Upstream: apiserver@v0.30.3:pkg/endpoints/handlers/negotiation/negotiate.go
import { newStatusError, type StatusError } from '@kube-rx/apimachinery';

export type MediaType = 'application/json' | 'application/yaml' | 'application/vnd.kubernetes.protobuf';

export interface TransformTarget {
  readonly kind: string;
  readonly group: string;
  readonly version: string;
}

export interface NegotiatedMediaType {
  readonly mediaType: MediaType;
  /** Absent when the object is sent as it is. */
  readonly target: TransformTarget | undefined;
  readonly pretty: boolean;
}

export interface EndpointRestrictions {
  /** Custom resources have no protobuf form of their own, but their metadata has. */
  readonly protobuf: 'all' | 'metadata' | 'none';
  /** False for error answers and the like, which are never transformed. */
  readonly transforms: boolean;
}

export const ALL_MEDIA_TYPES: readonly MediaType[] = [
  'application/json',
  'application/yaml',
  'application/vnd.kubernetes.protobuf',
];
export const STREAM_MEDIA_TYPES: readonly string[] = [
  'application/json;stream=watch',
  'application/vnd.kubernetes.protobuf;stream=watch',
];

export interface AcceptClause {
  readonly type: string;
  readonly subtype: string;
  readonly params: ReadonlyMap<string, string>;
  readonly q: number;
}

/** Clauses by quality, then the more specific ones, then in their order. */
export function parseAccept(header: string): readonly AcceptClause[] {
  const clauses: AcceptClause[] = [];
  for (const part of header.split(',')) {
    const [range = '', ...rest] = part.split(';').map((piece) => piece.trim());
    const [type = '', named = '', more = ''] = range.split('/').map((piece) => piece.trim());
    const subtype = type === '*' && named === '' ? '*' : named;
    if (subtype === '' || more !== '') continue;
    const params = new Map<string, string>();
    let q = 1;
    for (const piece of rest) {
      const [key = '', value = '', surplus = ''] = piece.split('=').map((side) => side.trim());
      // A parameter without a value, or with two, is not there.
      if (value === '' || surplus !== '') continue;
      if (key === 'q') q = Number.isNaN(Number(value)) ? 0 : Number(value);
      else params.set(key, value);
    }
    clauses.push({ type, subtype, params, q });
  }
  const wildness = (clause: AcceptClause): number => (clause.type === '*' ? 2 : clause.subtype === '*' ? 1 : 0);
  return clauses.sort((a, b) => b.q - a.q || wildness(a) - wildness(b));
}

/** The first clause that can be served, or undefined. */
export function negotiate(header: string | undefined, endpoint: EndpointRestrictions): NegotiatedMediaType | undefined {
  if (header === undefined || header === '') {
    return { mediaType: 'application/json', target: undefined, pretty: false };
  }
  for (const clause of parseAccept(header)) {
    for (const mediaType of ALL_MEDIA_TYPES) {
      if (!covers(clause, mediaType)) continue;
      const accepted = acceptClause(clause, mediaType, endpoint);
      if (accepted !== undefined) return accepted;
    }
  }
  return undefined;
}

function covers(clause: AcceptClause, mediaType: string): boolean {
  if (clause.type === '*') return clause.subtype === '*';
  const [type, subtype] = mediaType.split('/', 2);
  return clause.type === type && (clause.subtype === '*' || clause.subtype === subtype);
}

function acceptClause(
  clause: AcceptClause,
  mediaType: MediaType,
  endpoint: EndpointRestrictions,
): NegotiatedMediaType | undefined {
  const { params } = clause;
  const stream = params.get('stream');
  if (stream !== undefined && (stream !== 'watch' || mediaType === 'application/yaml')) return undefined;
  const serverVersion = params.get('sv');
  if (serverVersion !== undefined && !(endpoint.transforms && serverVersion === 'v1')) return undefined;
  const protobuf = mediaType === 'application/vnd.kubernetes.protobuf';
  // Any of the three asks for another form, and one that nobody has unless all of them fit.
  if (!['as', 'g', 'v'].some((name) => params.has(name))) {
    if (protobuf && endpoint.protobuf !== 'all') return undefined;
    return { mediaType, target: undefined, pretty: params.get('pretty') === '1' };
  }
  const target = { kind: params.get('as') ?? '', group: params.get('g') ?? '', version: params.get('v') ?? '' };
  if (protobuf && endpoint.protobuf === 'none') return undefined;
  if (!endpoint.transforms || !allowsTransform(target, protobuf)) return undefined;
  return { mediaType, target, pretty: params.get('pretty') === '1' };
}

function allowsTransform(target: TransformTarget, protobuf: boolean): boolean {
  if (target.group !== 'meta.k8s.io' || (target.version !== 'v1' && target.version !== 'v1beta1')) return false;
  if (target.kind === 'Table') return !protobuf;
  return target.kind === 'PartialObjectMetadata' || target.kind === 'PartialObjectMetadataList';
}

export function notAcceptable(message: string): StatusError {
  return newStatusError(406, 'NotAcceptable', message);
}

/** Throws the 406 that lists what would be accepted. */
export function negotiateOutput(header: string | undefined, endpoint: EndpointRestrictions): NegotiatedMediaType {
  const negotiated = negotiate(header, endpoint);
  if (negotiated !== undefined) return negotiated;
  throw notAcceptable(`only the following media types are accepted: ${ALL_MEDIA_TYPES.join(', ')}`);
}

/** Throws when the type that was negotiated for the answer has no stream form. */
export function requireStream(negotiated: NegotiatedMediaType): void {
  if (negotiated.mediaType !== 'application/yaml') return;
  throw notAcceptable(`only the following media types are accepted: ${STREAM_MEDIA_TYPES.join(', ')}`);
}

/**
 * The router's own check, before any handler: it looks at bare types only and knows no partial wildcards.
 *
 * Upstream: github.com/emicklei/go-restful/v3 route.go#matchesAccept
 */
export function routerAccepts(header: string | undefined, produces: readonly string[]): boolean {
  if (header === undefined || header === '') return true;
  return header.split(',').some((part) => {
    const type = part.split(';', 1)[0]!.trim();
    return type === '*/*' || produces.includes(type);
  });
}

export function routerNotAcceptable(produces: readonly string[]): StatusError {
  return newStatusError(
    406,
    'NotAcceptable',
    `406: Not Acceptable\n\nAvailable representations: ${produces.join(', ')}`,
    {},
  );
}

export function unsupportedMediaType(accepted: readonly string[]): StatusError {
  return newStatusError(
    415,
    'UnsupportedMediaType',
    `the body of the request was in an unknown format - accepted media types include: ${accepted.join(', ')}`,
  );
}

const TRUE_TEXTS = new Set(['1', 't', 'T', 'TRUE', 'true', 'True']);

/** The query decides, else the user agent of a person's tool turns indentation on. */
export function wantsPretty(query: string | undefined, userAgent: string, negotiated?: NegotiatedMediaType): boolean {
  if (negotiated?.pretty) return true;
  if (query !== undefined && query !== '') return TRUE_TEXTS.has(query);
  return ['curl', 'Wget', 'Mozilla/5.0'].some((prefix) => userAgent.startsWith(prefix));
}
