// What storage can fail with, before the registry turns it into a Status.
// Upstream: apiserver@v0.30.3:pkg/storage/errors.go

export type StorageErrorCode =
  | 'KeyNotFound'
  | 'KeyExists'
  | 'ResourceVersionConflicts'
  | 'InvalidObj'
  | 'Unreachable'
  | 'Timeout';

const UPSTREAM_NUMBER: Readonly<Record<StorageErrorCode, number>> = {
  KeyNotFound: 1,
  KeyExists: 2,
  ResourceVersionConflicts: 3,
  InvalidObj: 4,
  Unreachable: 5,
  Timeout: 6,
};
const UPSTREAM_TEXT: Readonly<Record<StorageErrorCode, string>> = {
  KeyNotFound: 'key not found',
  KeyExists: 'key exists',
  ResourceVersionConflicts: 'resource version conflicts',
  InvalidObj: 'invalid object',
  Unreachable: 'server unreachable',
  Timeout: 'request timeout',
};

export interface StorageErrorOptions {
  readonly code: StorageErrorCode;
  readonly key: string;
  readonly revision?: number;
  readonly additionalMessage?: string;
  readonly cause?: unknown;
}

/** The message is upstream's text: it shows in answers. */
export class StorageError extends Error {
  override readonly name = 'StorageError';
  readonly code: StorageErrorCode;
  readonly key: string;
  readonly revision: number;
  readonly additionalMessage: string;

  constructor(options: StorageErrorOptions) {
    const { code, key, revision = 0, additionalMessage = '' } = options;
    super(
      `StorageError: ${UPSTREAM_TEXT[code]}, Code: ${UPSTREAM_NUMBER[code]}, Key: ${key}, ResourceVersion: ${revision}, AdditionalErrorMsg: ${additionalMessage}`,
      { cause: options.cause },
    );
    this.code = code;
    this.key = key;
    this.revision = revision;
    this.additionalMessage = additionalMessage;
  }
}

const hasCode = (error: unknown, code: StorageErrorCode): boolean =>
  error instanceof StorageError && error.code === code;

export const isKeyNotFound = (error: unknown): boolean => hasCode(error, 'KeyNotFound');
export const isKeyExists = (error: unknown): boolean => hasCode(error, 'KeyExists');
export const isResourceVersionConflict = (error: unknown): boolean => hasCode(error, 'ResourceVersionConflicts');
export const isInvalidObj = (error: unknown): boolean => hasCode(error, 'InvalidObj');
export const isUnreachable = (error: unknown): boolean => hasCode(error, 'Unreachable');

/** `revision` is the one at which the key was looked for; 0 when that is not known. */
export const keyNotFound = (key: string, revision: number = 0): StorageError =>
  new StorageError({ code: 'KeyNotFound', key, revision });
export const keyExists = (key: string): StorageError => new StorageError({ code: 'KeyExists', key });
