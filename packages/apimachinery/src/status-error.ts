// An API failure as a JavaScript error, the predicates clients use and the constructors servers use.
// Upstream: apimachinery@v0.30.3:pkg/api/errors/errors.go

import { goQuote } from './go-quote.ts';
import type { GroupResource } from './group-version.ts';
import { formatGroupResource } from './group-version.ts';
import type { Status, StatusCause, StatusDetails, StatusReason } from './status.ts';

export interface StatusErrorOptions {
  readonly cause?: unknown;
}

/**
 * Carries a `v1` Status. `code` and `reason` never change their meaning; branch on the predicates of this module,
 * not on `instanceof`, since two copies of this package may be loaded.
 *
 * @example
 * try { await client.get('web') } catch (error) { if (!isNotFound(error)) throw error; }
 */
export class StatusError extends Error {
  override readonly name = 'StatusError';
  readonly status: Status;

  constructor(status: Status, options: StatusErrorOptions = {}) {
    super(status.message ?? status.reason ?? 'unknown API error', options);
    this.status = status;
  }

  /** HTTP status code, 0 when the Status has none. */
  get code(): number {
    return this.status.code ?? 0;
  }

  get reason(): string {
    return this.status.reason ?? '';
  }

  /** Seconds the server asks to wait, undefined when it does not. */
  get retryAfterSeconds(): number | undefined {
    return this.status.details?.retryAfterSeconds;
  }
}

const CAUSE_TOO_LARGE = 'ResourceVersionTooLarge';
const TOO_LARGE_TEXT = 'Too large resource version';

// A chain of causes longer than this, or one that bites its tail, is no chain.
const MAX_CAUSES = 16;

/**
 * The Status of an error: its own, that of the nearest cause which has one, or the bare Status. Errors of another copy of
 * this package count too.
 */
export function statusOf(error: unknown): Status | undefined {
  let current = error;
  for (let depth = 0; depth < MAX_CAUSES && typeof current === 'object' && current !== null; depth++) {
    const { kind, status, cause } = current as { kind?: unknown; status?: unknown; cause?: unknown };
    if (kind === 'Status') return current as Status;
    // Only errors: an API object has a status as well.
    if (current instanceof Error && typeof status === 'object' && status !== null) return status as Status;
    current = cause;
  }
  return undefined;
}

const KNOWN_REASONS: ReadonlySet<string> = new Set<StatusReason>([
  'Unauthorized',
  'Forbidden',
  'NotFound',
  'AlreadyExists',
  'Conflict',
  'Gone',
  'Invalid',
  'ServerTimeout',
  'Timeout',
  'TooManyRequests',
  'BadRequest',
  'MethodNotAllowed',
  'NotAcceptable',
  'RequestEntityTooLarge',
  'UnsupportedMediaType',
  'InternalError',
  'Expired',
  'ServiceUnavailable',
]);

/** True when the reason says so or, for a reason nobody knows, when the code says so. */
function reasonOrCode(error: unknown, reason: StatusReason, code: number): boolean {
  const status = statusOf(error);
  if (status === undefined) return false;
  if (status.reason === reason) return true;
  return !KNOWN_REASONS.has(status.reason ?? '') && status.code === code;
}

export const isNotFound = (error: unknown): boolean => reasonOrCode(error, 'NotFound', 404);
export const isAlreadyExists = (error: unknown): boolean => statusOf(error)?.reason === 'AlreadyExists';
export const isConflict = (error: unknown): boolean => reasonOrCode(error, 'Conflict', 409);
export const isInvalid = (error: unknown): boolean => reasonOrCode(error, 'Invalid', 422);
export const isGone = (error: unknown): boolean => reasonOrCode(error, 'Gone', 410);
/** Only the reason `Expired`; use {@link isExpiredOrGone} to decide about a relist. */
export const isResourceExpired = (error: unknown): boolean => statusOf(error)?.reason === 'Expired';
export const isExpiredOrGone = (error: unknown): boolean => isResourceExpired(error) || isGone(error);
export const isUnauthorized = (error: unknown): boolean => reasonOrCode(error, 'Unauthorized', 401);
export const isForbidden = (error: unknown): boolean => reasonOrCode(error, 'Forbidden', 403);
export const isMethodNotSupported = (error: unknown): boolean => reasonOrCode(error, 'MethodNotAllowed', 405);
export const isTimeout = (error: unknown): boolean => reasonOrCode(error, 'Timeout', 504);
export const isInternalError = (error: unknown): boolean => reasonOrCode(error, 'InternalError', 500);
export const isServiceUnavailable = (error: unknown): boolean => reasonOrCode(error, 'ServiceUnavailable', 503);
export const isBadRequest = (error: unknown): boolean => reasonOrCode(error, 'BadRequest', 400);
/** Code 429 counts whatever the reason says, as upstream. */
export const isTooManyRequests = (error: unknown): boolean => {
  const status = statusOf(error);
  return status !== undefined && (status.reason === 'TooManyRequests' || status.code === 429);
};

/** The server does not know that resource version yet: a lagging cache, or a cluster restored from a backup. */
export function isTooLargeResourceVersion(error: unknown): boolean {
  const status = statusOf(error);
  if (status === undefined) return false;
  if (status.details?.causes?.some((cause) => cause.reason === CAUSE_TOO_LARGE)) return true;
  if (!isTimeout(error)) return false;
  // Servers before 1.17 and 1.18 only said it in words.
  const texts = [status.message, ...(status.details?.causes ?? []).map((cause) => cause.message)];
  return texts.some((text) => text?.includes(TOO_LARGE_TEXT));
}

function failure(code: number, reason: StatusReason, message: string, details?: StatusDetails): StatusError {
  return new StatusError({
    kind: 'Status',
    apiVersion: 'v1',
    metadata: {},
    status: 'Failure',
    message,
    ...(reason === '' ? {} : { reason }),
    ...(details === undefined ? {} : { details }),
    code,
  });
}

/** Details name the resource in the field `kind`, as upstream does. */
function detailsOf(resource: GroupResource, name: string, more: StatusDetails = {}): StatusDetails {
  return {
    ...(name === '' ? {} : { name }),
    ...(resource.group === '' ? {} : { group: resource.group }),
    ...(resource.resource === '' ? {} : { kind: resource.resource }),
    ...more,
  };
}

export const newNotFound = (resource: GroupResource, name: string): StatusError =>
  failure(404, 'NotFound', `${formatGroupResource(resource)} ${goQuote(name)} not found`, detailsOf(resource, name));

export const newAlreadyExists = (resource: GroupResource, name: string): StatusError =>
  failure(
    409,
    'AlreadyExists',
    `${formatGroupResource(resource)} ${goQuote(name)} already exists`,
    detailsOf(resource, name),
  );

export const newGenerateNameConflict = (
  resource: GroupResource,
  name: string,
  retryAfterSeconds: number,
): StatusError =>
  failure(
    409,
    'AlreadyExists',
    `${formatGroupResource(resource)} ${goQuote(name)} already exists, the server was not able to generate a unique name for the object`,
    detailsOf(resource, name, { retryAfterSeconds }),
  );

export const newConflict = (resource: GroupResource, name: string, why: string): StatusError =>
  failure(
    409,
    'Conflict',
    `Operation cannot be fulfilled on ${formatGroupResource(resource)} ${goQuote(name)}: ${why}`,
    detailsOf(resource, name),
  );

export const newApplyConflict = (causes: readonly StatusCause[], message: string): StatusError =>
  failure(409, 'Conflict', message, { causes });

export const newForbidden = (resource: GroupResource, name: string, why: string): StatusError => {
  const what = formatGroupResource(resource);
  const message =
    what === ''
      ? `forbidden: ${why}`
      : name === ''
        ? `${what} is forbidden: ${why}`
        : `${what} ${goQuote(name)} is forbidden: ${why}`;
  return failure(403, 'Forbidden', message, detailsOf(resource, name));
};

export const newUnauthorized = (message: string): StatusError =>
  failure(401, 'Unauthorized', message === '' ? 'not authorized' : message);

export const newBadRequest = (message: string): StatusError => failure(400, 'BadRequest', message);

export const newMethodNotSupported = (resource: GroupResource, verb: string): StatusError =>
  failure(
    405,
    'MethodNotAllowed',
    `${verb} is not supported on resources of kind ${goQuote(formatGroupResource(resource))}`,
    detailsOf(resource, ''),
  );

export const newResourceExpired = (message: string): StatusError => failure(410, 'Expired', message);

export const newServiceUnavailable = (message: string): StatusError => failure(503, 'ServiceUnavailable', message);

export const newTooManyRequests = (message: string, retryAfterSeconds: number): StatusError =>
  failure(429, 'TooManyRequests', message, { retryAfterSeconds });

export const newInternalError = (why: string): StatusError =>
  failure(500, 'InternalError', `Internal error occurred: ${why}`, { causes: [{ message: why }] });

export const newTimeout = (message: string, retryAfterSeconds: number): StatusError =>
  failure(504, 'Timeout', `Timeout: ${message}`, retryAfterSeconds > 0 ? { retryAfterSeconds } : {});

/** What the server says to a resource version of the future; `retryAfterSeconds` 0 leaves the hint out. */
export const newTooLargeResourceVersion = (asked: string, current: string, retryAfterSeconds: number): StatusError =>
  failure(504, 'Timeout', `Timeout: ${TOO_LARGE_TEXT}: ${asked}, current: ${current}`, {
    causes: [{ reason: CAUSE_TOO_LARGE, message: TOO_LARGE_TEXT }],
    ...(retryAfterSeconds > 0 ? { retryAfterSeconds } : {}),
  });

export const newRequestEntityTooLarge = (message: string): StatusError =>
  failure(413, 'RequestEntityTooLarge', `Request entity too large: ${message}`);

/** An error without a reason, as upstream answers one that is no API error: code 500 and the bare text. */
export const newUnknownError = (message: string): StatusError => failure(500, '', message);

/** One field of a 422: the text of `message` has the form `FIELD: BODY`. */
export interface FieldErrorCause extends StatusCause {
  readonly reason: string;
  readonly message: string;
  readonly field: string;
}

/**
 * 422 with one cause per field. One error is written plainly, several as `[A, B]`, equal ones once.
 *
 * Upstream: apimachinery@v0.30.3:pkg/api/errors/errors.go#NewInvalid
 */
export function newInvalid(
  kind: { group: string; kind: string },
  name: string,
  causes: readonly FieldErrorCause[],
): StatusError {
  const texts = [...new Set(causes.map((cause) => `${cause.field}: ${cause.message}`))];
  const body = texts.length > 1 ? `: [${texts.join(', ')}]` : texts.length === 1 ? `: ${texts[0]}` : '';
  const what = kind.group === '' ? kind.kind : `${kind.kind}.${kind.group}`;
  return failure(422, 'Invalid', `${what} ${goQuote(name)} is invalid${body}`, {
    ...(name === '' ? {} : { name }),
    ...(kind.group === '' ? {} : { group: kind.group }),
    kind: kind.kind,
    ...(causes.length === 0 ? {} : { causes }),
  });
}

/** For answers that fit no other constructor. */
export const newStatusError = failure as (
  code: number,
  reason: StatusReason,
  message: string,
  details?: StatusDetails,
) => StatusError;
