// Every error this package throws has a stable code; branch on the code or on the predicate, not on instanceof,
// since two copies of the package may be loaded. What the API answers is a StatusError of @kube-rx/apimachinery.

export interface InformerErrorOptions {
  readonly cause?: unknown;
}

/** Base of the errors of this package. `code` never changes its meaning and is never reused. */
export abstract class InformerError extends Error {
  abstract readonly code: string;
}

export type TransportErrorCode =
  | 'REFUSED'
  | 'RESET'
  | 'EOF'
  | 'UNEXPECTED_EOF'
  | 'TIMEOUT'
  | 'DNS'
  | 'TLS'
  | 'ABORTED'
  | 'TOO_MANY_REDIRECTS'
  | 'PROXY'
  | 'NETWORK';

/** The request got no (whole) answer. `RESET`, `EOF` and `UNEXPECTED_EOF` mean that the peer ended the connection. */
export class TransportError extends InformerError {
  override readonly name = 'TransportError';
  readonly code: TransportErrorCode;

  constructor(code: TransportErrorCode, message: string, options: InformerErrorOptions = {}) {
    super(message, options);
    this.code = code;
  }
}

export type DecodeErrorCode =
  | 'BAD_JSON'
  | 'BAD_EVENT'
  | 'NOT_A_LIST'
  | 'BAD_ITEMS'
  | 'UNKNOWN_KIND'
  | 'EMPTY_BODY'
  | 'BAD_CONTENT_TYPE'
  | 'TOO_LARGE';

/** The answer came, but it is not what the API promises. */
export class DecodeError extends InformerError {
  override readonly name = 'DecodeError';
  readonly code: DecodeErrorCode;

  constructor(code: DecodeErrorCode, message: string, options: InformerErrorOptions = {}) {
    super(message, options);
    this.code = code;
  }
}

/** A success code that the verb does not allow, for example 204 to a watch. */
export class UnexpectedStatusCodeError extends InformerError {
  override readonly name = 'UnexpectedStatusCodeError';
  readonly code = 'UNEXPECTED_STATUS_CODE';
  readonly statusCode: number;

  constructor(statusCode: number, message: string) {
    super(message);
    this.statusCode = statusCode;
  }
}

export type ReflectorErrorCode =
  | 'LIST_FAILED'
  | 'WATCH_START_FAILED'
  | 'WATCH_FAILED'
  | 'WATCH_EVENT_ERROR'
  | 'WATCH_TOO_SHORT'
  | 'WATCH_IDLE'
  | 'NO_RESOURCE_VERSION'
  | 'INITIAL_EVENTS_TIMEOUT'
  | 'STORE_FAILED'
  | 'INCONSISTENT'
  | 'BAD_FRAME';

/** What went wrong between a reflector and its server. All are retried; `cause` is the error below. */
export class ReflectorError extends InformerError {
  override readonly name = 'ReflectorError';
  readonly code: ReflectorErrorCode;
  /** What is reflected, for example `pods.v1`. */
  readonly resource: string;

  constructor(code: ReflectorErrorCode, resource: string, message: string, options: InformerErrorOptions = {}) {
    super(message, options);
    this.code = code;
    this.resource = resource;
  }
}

/** A user's handler, transform or index function threw; the others go on. */
export class HandlerError extends InformerError {
  override readonly name = 'HandlerError';
  readonly code = 'HANDLER_FAILED';
  /** Name of the handler, or `transform` / `index:NAME`. */
  readonly handler: string;
  readonly key: string;

  constructor(handler: string, key: string, cause: unknown) {
    super(`${handler} failed for ${JSON.stringify(key)}: ${cause instanceof Error ? cause.message : String(cause)}`, {
      cause,
    });
    this.handler = handler;
    this.key = key;
  }
}

/** An object from which no key can be made. */
export class KeyError extends InformerError {
  override readonly name = 'KeyError';
  readonly code = 'NO_KEY';
}

export type InformerStateErrorCode = 'ALREADY_RUNNING' | 'ALREADY_STARTED' | 'STOPPED' | 'DUPLICATE_INDEX' | 'NO_INDEX';

/** A call that the object's present state does not allow. */
export class InformerStateError extends InformerError {
  override readonly name = 'InformerStateError';
  readonly code: InformerStateErrorCode;

  constructor(code: InformerStateErrorCode, message: string, options: InformerErrorOptions = {}) {
    super(message, options);
    this.code = code;
  }
}

export type WaitErrorCode = 'NOT_SYNCED' | 'SYNC_REFUSED' | 'WATCH_CLOSED' | 'TIMED_OUT' | 'CONSUMER_TOO_SLOW';

/** A wait ended without what was waited for; the message names the last fault when there is one. */
export class WaitError extends InformerError {
  override readonly name = 'WaitError';
  readonly code: WaitErrorCode;

  constructor(code: WaitErrorCode, message: string, options: InformerErrorOptions = {}) {
    super(message, options);
    this.code = code;
  }
}

export type ConfigErrorCode =
  | 'NO_SUCH_FILE'
  | 'BAD_KUBECONFIG'
  | 'BAD_PROXY'
  | 'NO_SUCH_CONTEXT'
  | 'NOT_IN_CLUSTER'
  | 'EXEC_PLUGIN_FAILED'
  | 'UNKNOWN_RESOURCE';

/** The client configuration cannot be used; the message names file and field. */
export class ConfigError extends InformerError {
  override readonly name = 'ConfigError';
  readonly code: ConfigErrorCode;

  constructor(code: ConfigErrorCode, message: string, options: InformerErrorOptions = {}) {
    super(message, options);
    this.code = code;
  }
}

/** A reconciler throws it to say that trying again cannot help. */
export class TerminalError extends InformerError {
  override readonly name = 'TerminalError';
  readonly code = 'TERMINAL';
}

const codeIs = (error: unknown, name: string, code?: string): boolean =>
  typeof error === 'object' &&
  error !== null &&
  (error as { name?: unknown }).name === name &&
  (code === undefined || (error as { code?: unknown }).code === code);

export const isTransportError = (error: unknown, code?: TransportErrorCode): error is TransportError =>
  codeIs(error, 'TransportError', code);
export const isDecodeError = (error: unknown, code?: DecodeErrorCode): error is DecodeError =>
  codeIs(error, 'DecodeError', code);
export const isReflectorError = (error: unknown, code?: ReflectorErrorCode): error is ReflectorError =>
  codeIs(error, 'ReflectorError', code);
export const isHandlerError = (error: unknown): error is HandlerError => codeIs(error, 'HandlerError');
export const isKeyError = (error: unknown): error is KeyError => codeIs(error, 'KeyError');
export const isInformerStateError = (error: unknown, code?: InformerStateErrorCode): error is InformerStateError =>
  codeIs(error, 'InformerStateError', code);
export const isWaitError = (error: unknown, code?: WaitErrorCode): error is WaitError =>
  codeIs(error, 'WaitError', code);
export const isConfigError = (error: unknown, code?: ConfigErrorCode): error is ConfigError =>
  codeIs(error, 'ConfigError', code);
export const isTerminalError = (error: unknown): error is TerminalError => codeIs(error, 'TerminalError');
