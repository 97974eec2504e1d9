// What etcd refuses, by code; the messages are etcd's own texts because some of them reach clients unchanged.
// Upstream: etcd@v3.5.15:api/v3rpc/rpctypes/error.go

export type EtcdErrorCode =
  | 'Compacted'
  | 'FutureRev'
  | 'NoLeader'
  | 'LeaseNotFound'
  | 'DuplicateKey'
  | 'RequestTooLarge'
  | 'EmptyKey'
  | 'Unavailable'
  | 'Corrupt'
  | 'Closed';

const TEXT: Readonly<Record<EtcdErrorCode, string>> = {
  Compacted: 'etcdserver: mvcc: required revision has been compacted',
  FutureRev: 'etcdserver: mvcc: required revision is a future revision',
  NoLeader: 'etcdserver: no leader',
  LeaseNotFound: 'etcdserver: requested lease not found',
  DuplicateKey: 'etcdserver: duplicate key given in txn request',
  RequestTooLarge: 'etcdserver: request is too large',
  EmptyKey: 'etcdserver: key is not provided',
  Unavailable: 'etcdserver: request timed out',
  Corrupt: 'etcdserver: corrupt cluster',
  Closed: 'etcdserver: server stopped',
};

export interface EtcdErrorOptions {
  /** Replaces etcd's text. */
  readonly message?: string;
  /** With `Compacted`: the revision up to which history is gone. */
  readonly compactRevision?: number | undefined;
  readonly cause?: unknown;
}

/** Branch on `code`, never on the text. */
export class EtcdError extends Error {
  override readonly name = 'EtcdError';
  readonly code: EtcdErrorCode;
  readonly compactRevision: number | undefined;

  constructor(code: EtcdErrorCode, options: EtcdErrorOptions = {}) {
    super(options.message ?? TEXT[code], options.cause === undefined ? {} : { cause: options.cause });
    this.code = code;
    this.compactRevision = options.compactRevision;
  }
}

export function isEtcdError(error: unknown, code: EtcdErrorCode): boolean {
  return error instanceof Error && error.name === 'EtcdError' && (error as { code?: unknown }).code === code;
}
