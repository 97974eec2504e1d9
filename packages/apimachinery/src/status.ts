// The Status object: how the API says success and failure.
// Upstream: apimachinery@v0.30.3:pkg/apis/meta/v1/types.go#Status
import type { ListMeta } from './object-meta.ts';

export type StatusReason =
  | ''
  | 'Unauthorized'
  | 'Forbidden'
  | 'NotFound'
  | 'AlreadyExists'
  | 'Conflict'
  | 'Gone'
  | 'Invalid'
  | 'ServerTimeout'
  | 'StoreReadError'
  | 'Timeout'
  | 'TooManyRequests'
  | 'BadRequest'
  | 'MethodNotAllowed'
  | 'NotAcceptable'
  | 'RequestEntityTooLarge'
  | 'UnsupportedMediaType'
  | 'InternalError'
  | 'Expired'
  | 'ServiceUnavailable';

export interface StatusCause {
  readonly reason?: string;
  readonly message?: string;
  readonly field?: string;
}

export interface StatusDetails {
  readonly name?: string;
  readonly group?: string;
  readonly kind?: string;
  readonly uid?: string;
  readonly causes?: readonly StatusCause[];
  /** Whole seconds; on an HTTP error the server repeats it as the header Retry-After. */
  readonly retryAfterSeconds?: number;
}

export interface Status {
  readonly kind?: 'Status';
  readonly apiVersion?: 'v1';
  readonly metadata?: ListMeta;
  readonly status?: 'Success' | 'Failure';
  readonly message?: string;
  readonly reason?: StatusReason | (string & {});
  readonly details?: StatusDetails;
  readonly code?: number;
}

/** True for a JSON value that is a `v1` Status. */
export function isStatus(value: unknown): value is Status {
  if (typeof value !== 'object' || value === null) return false;
  const { kind, apiVersion } = value as { kind?: unknown; apiVersion?: unknown };
  return kind === 'Status' && (apiVersion === undefined || apiVersion === 'v1');
}
