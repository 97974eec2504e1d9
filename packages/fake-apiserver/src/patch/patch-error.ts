// Why a patch cannot be applied, with the HTTP answer it deserves.

export type PatchErrorKind =
  /** 400 with the message as it is. */
  | 'bad-request'
  /** 422 of the generic server response: clients see a fixed sentence, the message stays in the server. */
  | 'unprocessable'
  /** 413. */
  | 'too-large'
  /** 500 with the bare message, as upstream answers errors that are no API errors. */
  | 'unknown';

/** `kind` decides about the status code; the message is upstream's. */
export class PatchError extends Error {
  override readonly name = 'PatchError';
  readonly kind: PatchErrorKind;

  constructor(kind: PatchErrorKind, message: string, options: { readonly cause?: unknown } = {}) {
    super(message, options);
    this.kind = kind;
  }
}
