// Which class an error of LIST or WATCH belongs to; the state machine knows classes only.
// Upstream: client-go@v0.30.3:tools/cache/reflector.go#isExpiredError, isTooLargeResourceVersionError, isWatchErrorRetriable
import type { Status, StatusCause } from '@kube-rx/apimachinery';
import {
  isBadRequest,
  isExpiredOrGone,
  isForbidden,
  isInternalError,
  isInvalid,
  isNotFound,
  isTimeout,
  isTooManyRequests,
  isUnauthorized,
  statusOf,
} from '@kube-rx/apimachinery';
import { DecodeError, TransportError, UnexpectedStatusCodeError } from '../errors.ts';
import type { Fault, FaultKind, FaultVerb } from './informer-status.ts';

export type ErrorClass = 'expired' | 'too-large' | 'too-many-requests' | 'refused' | 'internal' | 'transport' | 'other';

/** What the state machine needs to know about a failure. */
export interface Failure {
  readonly error: Error;
  readonly errorClass: ErrorClass;
  readonly kind: FaultKind;
  readonly retryAfterMs?: number | undefined;
}

export function failureOf(thrown: unknown): Failure {
  const error = thrown instanceof Error ? thrown : new Error(String(thrown));
  const seconds = statusOf(error)?.details?.retryAfterSeconds;
  return {
    error,
    errorClass: classOf(error),
    kind: faultKindOf(error),
    ...(seconds === undefined ? {} : { retryAfterMs: seconds * 1000 }),
  };
}

function classOf(error: Error): ErrorClass {
  if (isTooLarge(error)) return 'too-large';
  if (isExpiredOrGone(error)) return 'expired';
  if (isTooManyRequests(error)) return 'too-many-requests';
  if (isInternalError(error)) return 'internal';
  if (error instanceof TransportError) return error.code === 'REFUSED' ? 'refused' : 'transport';
  return 'other';
}

const TOO_LARGE = 'Too large resource version';

/** Old servers say it in words only, and then only a Status with details counts; a raw body quoted in a cause does not. */
function isTooLarge(error: Error): boolean {
  const status = statusOf(error);
  if (status === undefined) return false;
  const causes = causesOf(status);
  if (causes.some((cause) => cause.reason === 'ResourceVersionTooLarge')) return true;
  if (!isTimeout(error) || status.details === undefined) return false;
  return causes.some((cause) => cause.message === TOO_LARGE) || String(status.message ?? '').includes(TOO_LARGE);
}

/** Empty for whatever else than causes stands there: the error may be of a lister that decodes for itself. */
function causesOf(status: Status | undefined): readonly StatusCause[] {
  const causes: unknown = status?.details?.causes;
  return Array.isArray(causes) ? causes.filter((cause) => typeof cause === 'object' && cause !== null) : [];
}

export function faultKindOf(error: Error): FaultKind {
  if (isTooLarge(error)) return 'rv-too-large';
  if (isExpiredOrGone(error)) return 'expired';
  if (isTooManyRequests(error)) return 'throttled';
  if (isUnauthorized(error)) return 'unauthorized';
  if (isForbidden(error)) return 'forbidden';
  if (isNotFound(error)) return 'not-found';
  if (isBadRequest(error) || isInvalid(error)) return 'bad-request';
  if (causesOf(statusOf(error)).some((cause) => cause.reason === 'ClientWatchDecoding')) return 'decode';
  if (statusOf(error) !== undefined) return 'server';
  if (error instanceof TransportError) return error.code === 'REFUSED' ? 'refused' : 'transport';
  if (error instanceof DecodeError || error instanceof UnexpectedStatusCodeError) return 'decode';
  return 'server';
}

/** A failure, or a fault that no error stands behind. */
export interface FaultCause {
  readonly kind: FaultKind;
  readonly error?: Error | undefined;
  readonly retryAfterMs?: number | undefined;
}

export function faultOf(verb: FaultVerb, cause: FaultCause, resourceVersion: string, at: number): Fault {
  const status = cause.error === undefined ? undefined : statusOf(cause.error);
  return {
    kind: cause.kind,
    verb,
    at,
    resourceVersion,
    ...(cause.retryAfterMs === undefined ? {} : { retryAfterMs: cause.retryAfterMs }),
    ...(status === undefined ? {} : { status }),
    ...(cause.error === undefined ? {} : { error: cause.error }),
  };
}

/** The server understood and says no; only somebody else can change that. */
export function isRefusal(kind: FaultKind): boolean {
  return kind === 'unauthorized' || kind === 'forbidden' || kind === 'not-found';
}
