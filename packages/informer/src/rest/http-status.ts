// Failed HTTP answers to StatusErrors.
// Upstream: client-go@v0.30.3:rest/request.go#transformResponse, apimachinery@v0.30.3:pkg/api/errors/errors.go#NewGenericServerResponse
import type { Status, StatusReason } from '@kube-rx/apimachinery';
import { isStatus, newInternalError, StatusError } from '@kube-rx/apimachinery';
import { soundStatus } from './json-shape.ts';
import { parseApiVersion } from './known-kinds.ts';
import { parseMediaType } from './media-type.ts';
import { utf8ToString } from './utf8.ts';

const REASONS: Readonly<Record<number, readonly [StatusReason, string]>> = {
  400: ['BadRequest', 'the server rejected our request for an unknown reason'],
  401: ['Unauthorized', 'the server has asked for the client to provide credentials'],
  403: ['Forbidden', 'the server does not allow this request'],
  404: ['NotFound', 'the server could not find the requested resource'],
  405: ['MethodNotAllowed', 'the server does not allow this method on the requested resource'],
  406: ['NotAcceptable', 'the server was unable to respond with a content type that the client supports'],
  409: ['Conflict', 'the server reported a conflict'],
  415: ['UnsupportedMediaType', 'the media type of the body is not supported by the server'],
  422: ['Invalid', 'the server rejected our request due to an error in our request'],
  429: ['TooManyRequests', 'the server has received too many requests and has asked us to try again later'],
  500: ['InternalError', 'an error on the server has prevented the request from succeeding'],
  503: ['ServiceUnavailable', 'the server is currently unable to handle the request'],
  504: [
    'Timeout',
    'the server was unable to return a response in the time allotted, but may still be processing the request',
  ],
};

export interface FailedAnswer {
  readonly method: string;
  readonly url: string;
  readonly statusCode: number;
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly body: Uint8Array;
}

export interface StatusErrorOptions {
  /** Believes the body no more than client-go does: it must be called JSON, say Failure, and give its own code. @defaultValue false */
  readonly strict?: boolean;
}

/** The Status of the body, or one made from the code when the body is none. */
export function statusErrorOf(answer: FailedAnswer, options: StatusErrorOptions = {}): StatusError {
  if (!options.strict) return parsedStatus(answer) ?? genericStatusError(answer, options);
  return contentTypeError(answer.headers) ?? strictStatus(answer) ?? genericStatusError(answer, options);
}

/** What client-go makes of a Content-Type that cannot be read, whatever the answer is. */
export function contentTypeError(headers: FailedAnswer['headers']): StatusError | undefined {
  const contentType = headers['content-type'] ?? '';
  const problem = contentType === '' ? undefined : parseMediaType(contentType).problem;
  return problem === undefined ? undefined : newInternalError(`${problem}: ${JSON.stringify(contentType)}`);
}

function jsonOf(body: Uint8Array): unknown {
  try {
    return JSON.parse(utf8ToString(body));
  } catch {
    return undefined;
  }
}

function strictStatus({ headers, body }: FailedAnswer): StatusError | undefined {
  const contentType = headers['content-type'] ?? '';
  if (contentType !== '' && parseMediaType(contentType).type !== 'application/json') return undefined;
  const status = soundStatus(jsonOf(body));
  if (status?.kind !== 'Status' || status.status !== 'Failure') return undefined;
  return parseApiVersion(status.apiVersion ?? '') === undefined ? undefined : new StatusError(status);
}

function parsedStatus(answer: FailedAnswer): StatusError | undefined {
  const value = jsonOf(answer.body);
  const status = isStatus(value) ? soundStatus(value) : undefined;
  if (status === undefined || status.status === 'Success') return undefined;
  const retryAfter = retryAfterSeconds(answer.headers);
  return new StatusError({
    ...status,
    code: status.code ?? answer.statusCode,
    // A proxy may ask for patience in the header alone.
    ...(retryAfter === undefined ? {} : { details: { retryAfterSeconds: retryAfter, ...status.details } }),
  });
}

/** The Status client-go makes up. Of a body that is no text it says nothing, which is less than a person wants to know. */
export function genericStatusError(answer: FailedAnswer, options: StatusErrorOptions = {}): StatusError {
  const { statusCode, method } = answer;
  const [reason, text] = genericReason(statusCode, method);
  const retryAfter = retryAfterSeconds(answer.headers);
  const excerpt = options.strict && !isText(answer.headers) ? 'unknown' : excerptOf(answer.body);
  const causes = excerpt === '' ? [] : [{ reason: 'UnexpectedServerResponse', message: excerpt }];
  const status: Status = {
    kind: 'Status',
    apiVersion: 'v1',
    metadata: {},
    status: 'Failure',
    message: `${text} (${method.toLowerCase()} ${pathOf(answer.url)})`,
    ...(reason === '' ? {} : { reason }),
    details: { causes, ...(retryAfter === undefined ? {} : { retryAfterSeconds: retryAfter }) },
    code: statusCode,
  };
  return new StatusError(status);
}

function isText(headers: FailedAnswer['headers']): boolean {
  const contentType = headers['content-type'] ?? '';
  return contentType === '' || parseMediaType(contentType).type.startsWith('text/');
}

const excerptOf = (body: Uint8Array): string => utf8ToString(body, 0, Math.min(body.length, 2048)).trim();

function genericReason(statusCode: number, method: string): readonly [StatusReason, string] {
  if (statusCode === 409 && method === 'POST') return ['AlreadyExists', 'the server reported a conflict'];
  const known = REASONS[statusCode];
  if (known !== undefined) return known;
  if (statusCode >= 500) return REASONS[500]!;
  return ['', `the server responded with the status code ${statusCode} but did not return more information`];
}

/** The most that is waited because a server asks for it, ms: one bad answer must not silence a cache for a day. */
export const MAX_RETRY_AFTER_MS = 300_000;

/** Whole seconds of the Retry-After header, no less than 0; a date counts as absent, as upstream, a sign does not. */
export function retryAfterSeconds(headers: Readonly<Record<string, string | undefined>>): number | undefined {
  const value = headers['retry-after'];
  return value !== undefined && /^[+-]?[0-9]{1,9}$/.test(value) ? Math.max(Number(value), 0) : undefined;
}

function pathOf(url: string): string {
  try {
    return new URL(url).pathname;
  } catch {
    return url;
  }
}
