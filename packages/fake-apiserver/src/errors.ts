// Errors of this package that users see; API failures are Status answers, not exceptions.

export type FakeApiServerErrorCode =
  /** The port is taken or cannot be bound; `cause` is the system's error. */
  | 'LISTEN_FAILED'
  /** Called after `close` or `destroy`. */
  | 'SERVER_CLOSED'
  /** A control was asked for something that is not there, e.g. the window of an unknown resource. */
  | 'NO_SUCH_RESOURCE'
  /** The feature exists upstream and not here. */
  | 'UNSUPPORTED';

/** Branch on `code`: it never changes its meaning. */
export class FakeApiServerError extends Error {
  override readonly name = 'FakeApiServerError';
  readonly code: FakeApiServerErrorCode;

  constructor(code: FakeApiServerErrorCode, message: string, options: { readonly cause?: unknown } = {}) {
    super(message, options);
    this.code = code;
  }
}

export const isListenFailed = (error: unknown): boolean => hasCode(error, 'LISTEN_FAILED');
export const isServerClosed = (error: unknown): boolean => hasCode(error, 'SERVER_CLOSED');

function hasCode(error: unknown, code: FakeApiServerErrorCode): boolean {
  return error instanceof Error && error.name === 'FakeApiServerError' && (error as { code?: unknown }).code === code;
}
