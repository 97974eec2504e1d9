// A real etcd (3.4 or newer) behind the same interface as the embedded one, over gRPC.
// Upstream: etcd@v3.5.15:client/v3
// Differs: each watch has its own gRPC stream, so an answer to a progress request is always about that watch.
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
import { EtcdError } from '../errors.ts';
import { errorOfText, GrpcChannel, type GrpcChannelOptions, type GrpcStream } from './grpc-channel.ts';
import { ProtoReader, ProtoWriter } from './protobuf.ts';
import {
  decodeLeaseId,
  decodeRange,
  decodeStatus,
  decodeTxn,
  decodeWatch,
  encodeCompact,
  encodeLeaseGrant,
  encodeLeaseRevoke,
  encodeProgressRequest,
  encodeRange,
  encodeTxn,
  encodeWatchCreate,
  type WatchAnswer,
} from './rpc-messages.ts';

export type RemoteEtcdOptions = GrpcChannelOptions;

const KV = '/etcdserverpb.KV';

/**
 * Connects when first used and reconnects after a loss: calls under way fail with `Unavailable`, watches end with it.
 * `status()` of a real etcd does not tell the compaction revision.
 *
 * @example
 * await using etcd = new RemoteEtcd({ endpoint: 'http://127.0.0.1:2379' });
 * const { revision } = await etcd.status();
 */
export class RemoteEtcd implements EtcdClient {
  readonly #channel: GrpcChannel;

  constructor(options: RemoteEtcdOptions) {
    this.#channel = new GrpcChannel(options);
  }

  async range(request: RangeRequest, signal?: AbortSignal): Promise<RangeResponse> {
    return decodeRange(await this.#call(`${KV}/Range`, encodeRange(request), signal));
  }

  async txn(request: TxnRequest, signal?: AbortSignal): Promise<TxnResponse> {
    return decodeTxn(await this.#call(`${KV}/Txn`, encodeTxn(request), signal));
  }

  watch(request: WatchRequest, observer: WatchObserver): EtcdWatch {
    return new RemoteWatch(this.#channel, request, observer);
  }

  async compact(revision: Revision, signal?: AbortSignal): Promise<void> {
    await this.#call(`${KV}/Compact`, encodeCompact(revision), signal);
  }

  async grantLease(ttlSeconds: number, signal?: AbortSignal): Promise<LeaseId> {
    return decodeLeaseId(await this.#call('/etcdserverpb.Lease/LeaseGrant', encodeLeaseGrant(ttlSeconds), signal));
  }

  async revokeLease(lease: LeaseId, signal?: AbortSignal): Promise<void> {
    await this.#call('/etcdserverpb.Lease/LeaseRevoke', encodeLeaseRevoke(lease), signal);
  }

  async status(signal?: AbortSignal): ReturnType<EtcdClient['status']> {
    const answer = await this.#call('/etcdserverpb.Maintenance/Status', new ProtoWriter(), signal);
    return { ...decodeStatus(answer), compactRevision: undefined };
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

class RemoteWatch implements EtcdWatch {
  readonly #observer: WatchObserver;
  readonly #stream: GrpcStream;
  #ended = false;

  constructor(channel: GrpcChannel, request: WatchRequest, observer: WatchObserver) {
    this.#observer = observer;
    this.#stream = channel.stream(
      '/etcdserverpb.Watch/Watch',
      { message: (bytes) => this.#onAnswer(decodeWatch(new ProtoReader(bytes))), ended: (error) => this.#end(error) },
      // The stream is to fail rather than to stay silent when the member loses its leader.
      { hasleader: 'true' },
    );
    this.#stream.send(encodeWatchCreate(request).finish());
  }

  pause(): void {
    this.#stream.pause();
  }

  resume(): void {
    this.#stream.resume();
  }

  requestProgress(): void {
    this.#stream.send(encodeProgressRequest().finish());
  }

  cancel(): void {
    this.#ended = true;
    this.#stream.cancel();
  }

  #onAnswer(answer: WatchAnswer): void {
    if (this.#ended) return;
    const { revision, compactRevision, cancelReason, events } = answer;
    if (answer.canceled) {
      this.#stream.cancel();
      if (compactRevision > 0) this.#end(new EtcdError('Compacted', { compactRevision }));
      else this.#end(errorOfText(cancelReason === '' ? 'etcdserver: watch was canceled' : cancelReason));
    } else if (answer.created) this.#observer.created?.(revision);
    else if (events.length > 0) this.#observer.events(events, events.at(-1)!.kv.modRevision);
    else this.#observer.progress?.(revision);
  }

  #end(error: Error | undefined): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#observer.ended(error);
  }
}
