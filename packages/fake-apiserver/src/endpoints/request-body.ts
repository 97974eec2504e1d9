// Reading a body: its size limit and its media type.
// Upstream: apiserver@v0.30.3:pkg/endpoints/handlers/rest.go#limitedReadBody, negotiation/negotiate.go#NegotiateInputSerializer
import { newRequestEntityTooLarge } from '@kube-rx/apimachinery';
import type { ResourceInfo } from '../registry/rest.ts';
import { BodyTooLargeError, type HttpRequest } from './http.ts';
import { ALL_MEDIA_TYPES, type MediaType, unsupportedMediaType } from './negotiation.ts';

export async function readLimited(request: HttpRequest, limitBytes: number): Promise<Buffer> {
  try {
    return await request.readBody(limitBytes);
  } catch (error) {
    if (error instanceof BodyTooLargeError) throw newRequestEntityTooLarge(`limit is ${limitBytes}`);
    throw error;
  }
}

const MEDIA_TYPE = /^[!#$%&'*+.^_`|~0-9a-z-]+\/[!#$%&'*+.^_`|~0-9a-z-]+$/;
const PARAMETER = /^\s*;\s*([!#$%&'*+.^_`|~0-9A-Za-z-]+)\s*=\s*(?:[!#$%&'*+.^_`|~0-9A-Za-z-]+|"(?:[^"\\\r\n]|\\.)*")/;

/**
 * The bare media type of a Content-Type header, undefined when it cannot be read: a parameter nobody knows does no harm, one
 * without a value does, and so does the same one twice.
 *
 * Upstream: go1.22:src/mime/mediatype.go#ParseMediaType
 */
export function parseMediaType(header: string): string | undefined {
  const type = header.split(';', 1)[0]!;
  const known = new Set<string>();
  let rest = header.slice(type.length);
  while (rest.trim() !== '' && rest.trim() !== ';') {
    const [whole, name = ''] = PARAMETER.exec(rest) ?? [];
    if (whole === undefined || known.has(name.toLowerCase())) return undefined;
    known.add(name.toLowerCase());
    rest = rest.slice(whole.length);
  }
  const bare = type.trim().toLowerCase();
  return MEDIA_TYPE.test(bare) ? bare : undefined;
}

/** Throws a 415 for anything but the types a body may have. */
export function inputMediaType(request: HttpRequest, info: ResourceInfo | undefined): MediaType {
  const header = request.header('content-type') ?? '';
  if (header === '') return 'application/json';
  const type = parseMediaType(header);
  const found = ALL_MEDIA_TYPES.find((known) => known === type);
  const readable = found !== 'application/vnd.kubernetes.protobuf' || info?.custom !== true;
  if (found !== undefined && readable) return found;
  throw unsupportedMediaType(ALL_MEDIA_TYPES);
}
