// A real etcd (3.4 or newer) behind the same interface as the embedded one, over gRPC.
// Upstream: etcd@v3.5.15:client/v3
// Differs: each watch has its own gRPC stream, so an answer to a progress request is always about that watch.
import { type Clock, realClock } from '@kube-rx/apimachinery';
import type {
  EtcdClient,
  EtcdWatch,
  LeaseId,
  RangeRequest,
  RangeResponse,
  Revision,
  TxnRequest,
  TxnResponse,
  WatchObserver,
  WatchRequest,
} from '../client.ts';
import { GrpcChannel, type GrpcChannelOptions } from './grpc-channel.ts';
import { ProtoReader, ProtoWriter } from './protobuf.ts';
import { RemoteWatch } from './remote-watch.ts';
import {
  decodeLeaseId,
  decodeRange,
  decodeStatus,
  decodeTxn,
  encodeCompact,
  encodeLeaseGrant,
  encodeLeaseRevoke,
  encodeRange,
  encodeTxn,
} from './rpc-messages.ts';

export interface RemoteEtcdOptions extends GrpcChannelOptions {
  /** Times the attempts to take watches up again. Default the machine's. */
  readonly clock?: Clock | undefined;
}

const KV = '/etcdserverpb.KV';

/**
 * Connects when first used and reconnects after a loss: calls under way fail with `Unavailable`, watches go on from where they
 * were as soon as etcd is back.
 * A real etcd does not tell its compaction revision: `status()` knows of compactions through this client only.
 *
 * @example
 * await using etcd = new RemoteEtcd({ endpoint: 'http://127.0.0.1:2379' });
 * const { revision } = await etcd.status();
 */
export class RemoteEtcd implements EtcdClient {
  readonly #channel: GrpcChannel;
  readonly #clock: Clock;
  #compacted: Revision | undefined;

  constructor(options: RemoteEtcdOptions) {
    this.#clock = options.clock ?? realClock;
    this.#channel = new GrpcChannel(options);
  }

  async range(request: RangeRequest, signal?: AbortSignal): Promise<RangeResponse> {
    return decodeRange(await this.#call(`${KV}/Range`, encodeRange(request), signal));
  }

  async txn(request: TxnRequest, signal?: AbortSignal): Promise<TxnResponse> {
    return decodeTxn(await this.#call(`${KV}/Txn`, encodeTxn(request), signal));
  }

  watch(request: WatchRequest, observer: WatchObserver): EtcdWatch {
    return new RemoteWatch({ channel: this.#channel, clock: this.#clock, request, observer });
  }

  async compact(revision: Revision, signal?: AbortSignal): Promise<void> {
    await this.#call(`${KV}/Compact`, encodeCompact(revision), signal);
    this.#compacted = Math.max(this.#compacted ?? 0, revision);
  }

  async grantLease(ttlSeconds: number, signal?: AbortSignal): Promise<LeaseId> {
    return decodeLeaseId(await this.#call('/etcdserverpb.Lease/LeaseGrant', encodeLeaseGrant(ttlSeconds), signal));
  }

  async revokeLease(lease: LeaseId, signal?: AbortSignal): Promise<void> {
    await this.#call('/etcdserverpb.Lease/LeaseRevoke', encodeLeaseRevoke(lease), signal);
  }

  async status(signal?: AbortSignal): ReturnType<EtcdClient['status']> {
    const answer = await this.#call('/etcdserverpb.Maintenance/Status', new ProtoWriter(), signal);
    return { ...decodeStatus(answer), compactRevision: this.#compacted };
  }

  close(): Promise<void> {
    return this.#channel.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #call(path: string, message: ProtoWriter, signal: AbortSignal | undefined): Promise<ProtoReader> {
    return new ProtoReader(await this.#channel.unary(path, message.finish(), signal));
  }
}
