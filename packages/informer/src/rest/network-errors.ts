// Errors of Node, undici and browsers to the few classes a client must tell apart.
// Upstream: apimachinery@v0.30.3:pkg/util/net/util.go#IsConnectionReset, IsProbableEOF
import type { TransportErrorCode } from '../errors.ts';
import { TransportError } from '../errors.ts';

const CODES: Readonly<Record<string, TransportErrorCode>> = {
  ECONNREFUSED: 'REFUSED',
  ECONNRESET: 'RESET',
  EPIPE: 'EOF',
  ERR_STREAM_PREMATURE_CLOSE: 'EOF',
  ERR_HTTP2_GOAWAY_SESSION: 'EOF',
  ERR_HTTP2_INVALID_SESSION: 'EOF',
  ERR_HTTP2_SESSION_ERROR: 'EOF',
  ERR_HTTP2_STREAM_CANCEL: 'EOF',
  ERR_HTTP2_STREAM_ERROR: 'EOF',
  UND_ERR_SOCKET: 'EOF',
  HPE_INVALID_EOF_STATE: 'UNEXPECTED_EOF',
  ETIMEDOUT: 'TIMEOUT',
  ESOCKETTIMEDOUT: 'TIMEOUT',
  ECONNABORTED: 'TIMEOUT',
  UND_ERR_CONNECT_TIMEOUT: 'TIMEOUT',
  EHOSTUNREACH: 'NETWORK',
  ENETUNREACH: 'NETWORK',
  ENOTFOUND: 'DNS',
  EAI_AGAIN: 'DNS',
  CERT_HAS_EXPIRED: 'TLS',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'TLS',
  SELF_SIGNED_CERT_IN_CHAIN: 'TLS',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'TLS',
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: 'TLS',
  EPROTO: 'TLS',
  ERR_TLS_CERT_ALTNAME_INVALID: 'TLS',
  ERR_CANCELED: 'ABORTED',
  ABORT_ERR: 'ABORTED',
};

interface ErrorLike {
  readonly name?: unknown;
  readonly code?: unknown;
  readonly message?: unknown;
  readonly cause?: unknown;
  readonly errors?: unknown;
}

/** Looks through causes and aggregates (happy eyeballs fails with one error for each address). */
export function networkErrorCode(error: unknown): TransportErrorCode | undefined {
  let known: TransportErrorCode | undefined;
  const seen = new Set<unknown>();
  const visit = (value: unknown): void => {
    if (typeof value !== 'object' || value === null || seen.has(value)) return;
    seen.add(value);
    const { name, code, cause, errors } = value as ErrorLike;
    const ours = value instanceof TransportError ? value.code : undefined;
    const found =
      ours ?? CODES[String(code)] ?? (name === 'AbortError' || name === 'CanceledError' ? 'ABORTED' : undefined);
    known ??= found;
    if (found === 'REFUSED') known = found;
    visit(cause);
    if (Array.isArray(errors)) for (const each of errors) visit(each);
  };
  visit(error);
  return known;
}

/** Wraps whatever a runtime threw; a TransportError passes through. */
export function toTransportError(error: unknown, what: string): TransportError {
  if (error instanceof TransportError) return error;
  const message = error instanceof Error ? error.message : String(error);
  return new TransportError(
    networkErrorCode(error) ?? 'NETWORK',
    `${what}: ${message || String((error as ErrorLike)?.code)}`,
    {
      cause: error,
    },
  );
}

/** The peer went away before or while it answered; such a GET may be repeated. */
export function isProbableEof(error: unknown): boolean {
  return (
    error instanceof TransportError &&
    (error.code === 'EOF' || error.code === 'UNEXPECTED_EOF' || error.code === 'RESET')
  );
}
