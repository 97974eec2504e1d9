// Turns objects, lists and errors into answers: media type, indentation, compression, Retry-After.
// Upstream: apiserver@v0.30.3:pkg/endpoints/handlers/responsewriters/writers.go, errors.go, status.go
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { goJsonStringify, newUnknownError, type Status, statusOf } from '@kube-rx/apimachinery';
import { encodeProtobuf, type ProtobufObject } from '../protobuf/index.ts';
import type { HttpRequest, HttpResponse } from './http.ts';
import { type MediaType, type NegotiatedMediaType, negotiate, wantsPretty } from './negotiation.ts';
import { writeYaml } from './yaml-writer.ts';

const gzipAsync = promisify(gzip);
const GZIP_THRESHOLD_BYTES = 128 * 1024;
const NEWLINE = Buffer.from('\n');

/** The Status of an error; one that is no API error is a 500 with its bare text. */
export function errorToStatus(error: unknown): Status {
  const status = statusOf(error);
  if (status !== undefined) return status;
  return newUnknownError(error instanceof Error ? error.message : String(error)).status;
}

/** Answers with the error in the media type the client wants, where that exists. */
export function writeError(request: HttpRequest, response: HttpResponse, error: unknown): Promise<void> {
  const status = errorToStatus(error);
  const retryAfter = status.details?.retryAfterSeconds;
  if (retryAfter !== undefined && retryAfter > 0) response.setHeader('retry-after', String(retryAfter));
  const negotiated = negotiateForError(request);
  return writeValue(request, response, status.code ?? 500, status, negotiated);
}

function negotiateForError(request: HttpRequest): NegotiatedMediaType {
  const found = negotiate(request.header('accept'), { protobuf: 'all', transforms: false });
  // An error nobody can have in the form they want is written for people.
  return found ?? { mediaType: 'application/json', target: undefined, pretty: true };
}

/** A plain JSON value: Status, a review, a discovery document. */
export function writeValue(
  request: HttpRequest,
  response: HttpResponse,
  code: number,
  value: unknown,
  negotiated: NegotiatedMediaType,
): Promise<void> {
  if (negotiated.mediaType === 'application/yaml') {
    return writeBytes(request, response, code, 'application/yaml', [Buffer.from(writeYaml(value))]);
  }
  if (negotiated.mediaType === 'application/vnd.kubernetes.protobuf') {
    return writeBytes(request, response, code, negotiated.mediaType, [encodeProtobuf(value as ProtobufObject)]);
  }
  if (isPretty(request, negotiated)) {
    return writeBytes(request, response, code, 'application/json', [Buffer.from(goJsonStringify(value, '  '))]);
  }
  return writeBytes(request, response, code, 'application/json', [Buffer.from(`${goJsonStringify(value)}\n`)]);
}

/** JSON bytes that were made before, without their newline. */
export function writeJsonBytes(
  request: HttpRequest,
  response: HttpResponse,
  code: number,
  bytes: readonly Buffer[],
  negotiated: NegotiatedMediaType,
): Promise<void> {
  if (negotiated.mediaType === 'application/json' && !isPretty(request, negotiated)) {
    return writeBytes(request, response, code, 'application/json', [...bytes, NEWLINE]);
  }
  return writeValue(request, response, code, JSON.parse(Buffer.concat(bytes).toString()), negotiated);
}

function isPretty(request: HttpRequest, negotiated: NegotiatedMediaType): boolean {
  return wantsPretty(request.query.first('pretty'), request.header('user-agent') ?? '', negotiated);
}

/** Compresses a large answer to a GET when the client takes gzip; sends it. */
export async function writeBytes(
  request: HttpRequest,
  response: HttpResponse,
  code: number,
  contentType: MediaType | (string & {}),
  body: readonly Buffer[],
): Promise<void> {
  response.setHeader('content-type', contentType);
  let size = 0;
  for (const part of body) size += part.length;
  if (size <= GZIP_THRESHOLD_BYTES || request.method !== 'GET' || !takesGzip(request)) {
    return response.send(code, body);
  }
  response.setHeader('content-encoding', 'gzip');
  if (!response.getHeader('vary')?.includes('Accept-Encoding')) response.addHeader('vary', 'Accept-Encoding');
  const compressed = await gzipAsync(Buffer.concat(body), { level: 1 });
  return response.send(code, [compressed]);
}

// The token must stand alone: `gzip;q=1` does not count, as upstream.
function takesGzip(request: HttpRequest): boolean {
  return (request.header('accept-encoding') ?? '').split(',').some((token) => token.trim() === 'gzip');
}

/** A bare text, as the filters in front of the API answer. */
export function writeText(response: HttpResponse, code: number, text: string): Promise<void> {
  response.setHeader('content-type', 'text/plain; charset=utf-8');
  response.setHeader('x-content-type-options', 'nosniff');
  return response.send(code, [Buffer.from(text)]);
}
