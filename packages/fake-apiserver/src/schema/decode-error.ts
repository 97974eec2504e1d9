// What decoding gives back, and how it fails.

/** Text or data that cannot be decoded; the message is upstream's, without the words about kind and version around it. */
export class DecodeError extends Error {
  override readonly name = 'DecodeError';
}

export interface DecodedJson {
  readonly value: unknown;
  /** `unknown field "spec.foo"`, `duplicate field "data.k"`; in order of appearance, each once, at most 100. */
  readonly strictErrors: readonly string[];
}

/** The one message of strict validation for a list of strict errors. */
export function strictDecodingError(strictErrors: readonly string[]): string {
  return `strict decoding error: ${strictErrors.join(', ')}`;
}
