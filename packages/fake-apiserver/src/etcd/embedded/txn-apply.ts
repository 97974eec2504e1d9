// One transaction on the store: compare, then one of two lists of operations, all in one revision.
// Upstream: etcd@v3.5.15:server/etcdserver/apply.go#applyTxn, api/v3rpc/key.go#checkTxnRequest
import type { Compare, EtcdEvent, RangeRequest, TxnOp, TxnOpResponse, TxnRequest, TxnResponse } from '../client.ts';
import { EtcdError } from '../errors.ts';
import type { KvStore, KvWrite } from './mvcc/kvstore.ts';

export interface TxnOutcome {
  readonly response: TxnResponse;
  readonly events: readonly EtcdEvent[];
}

/** What the request would weigh on the wire, near enough for the limit: keys, values and a few bytes of framing each. */
export function requestSize(request: TxnRequest): number {
  let size = 16;
  for (const compare of request.compare) size += compare.key.length + 12;
  for (const op of request.success) size += opSize(op);
  for (const op of request.failure) size += opSize(op);
  return size;
}

function opSize(op: TxnOp): number {
  return op.key.length + 12 + (op.op === 'put' ? op.value.length : 0);
}

export function checkTxn(request: TxnRequest): void {
  for (const { key } of request.compare) if (key === '') throw new EtcdError('EmptyKey');
  for (const branch of [request.success, request.failure]) {
    let written: Set<string> | undefined;
    let first: string | undefined;
    for (const op of branch) {
      if (op.key === '') throw new EtcdError('EmptyKey');
      if (op.op === 'range') continue;
      if (first === undefined) first = op.key;
      else {
        written ??= new Set([first]);
        if (written.has(op.key)) throw new EtcdError('DuplicateKey');
        written.add(op.key);
      }
    }
  }
}

/**
 * Ranges of a transaction see the store before its writes, which is all an API server asks for: it never reads a key it has
 * written in the same transaction.
 */
export function applyTxn(store: KvStore, request: TxnRequest, checkLease: (lease: string) => void): TxnOutcome {
  const succeeded = request.compare.every((compare) => holds(store, compare));
  const ops = succeeded ? request.success : request.failure;
  const writes: KvWrite[] = [];
  const responses: TxnOpResponse[] = [];
  for (const op of ops) {
    if (op.op === 'range') {
      responses.push({ op: 'range', ...store.range(op as RangeRequest) });
    } else if (op.op === 'put') {
      const lease = op.lease ?? '';
      if (lease !== '') checkLease(lease);
      writes.push({ op: 'put', key: op.key, value: op.value, lease });
      responses.push({ op: 'put' });
    } else {
      writes.push({ op: 'delete', key: op.key });
      responses.push({ op: 'delete', deleted: store.current(op.key) === undefined ? 0 : 1 });
    }
  }
  const events = writes.length === 0 ? [] : store.apply(writes);
  return { response: { revision: store.revision, succeeded, responses }, events };
}

function holds(store: KvStore, compare: Compare): boolean {
  return (store.current(compare.key)?.[compare.target] ?? 0) === compare.equals;
}
