// One watch on a real etcd. When the connection is lost it waits, connects again and goes on after the last revision it
// has seen, so that a restart of etcd is no event for those who watch.
// Upstream: etcd@v3.5.15:client/v3/watch.go#watchGrpcStream
import type { Clock, ClockTimer } from '@kube-rx/apimachinery';
import type { EtcdWatch, Revision, WatchObserver, WatchRequest } from '../client.ts';
import { EtcdError, isEtcdError } from '../errors.ts';
import { errorOfText, type GrpcChannel, type GrpcStream } from './grpc-channel.ts';
import { ProtoReader } from './protobuf.ts';
import { decodeWatch, encodeProgressRequest, encodeWatchCreate, type WatchAnswer } from './rpc-messages.ts';

export interface RemoteWatchOptions {
  readonly channel: GrpcChannel;
  readonly clock: Clock;
  readonly request: WatchRequest;
  readonly observer: WatchObserver;
}

const FIRST_DELAY_MS = 50;
const MAX_DELAY_MS = 2000;

export class RemoteWatch implements EtcdWatch {
  readonly #options: RemoteWatchOptions;
  #stream: GrpcStream | undefined;
  /** 0 while etcd has not told where "from now" is. */
  #nextRevision: Revision;
  #created = false;
  #paused = false;
  #ended = false;
  #progressWanted = false;
  #delayMs = FIRST_DELAY_MS;
  #retry: ClockTimer | undefined;

  constructor(options: RemoteWatchOptions) {
    this.#options = options;
    this.#nextRevision = options.request.startRevision ?? 0;
    this.#open();
  }

  pause(): void {
    this.#paused = true;
    this.#stream?.pause();
  }

  resume(): void {
    this.#paused = false;
    this.#stream?.resume();
  }

  requestProgress(): void {
    this.#progressWanted = true;
    this.#stream?.send(encodeProgressRequest().finish());
  }

  cancel(): void {
    this.#ended = true;
    this.#retry?.cancel();
    this.#stream?.cancel();
  }

  #open(): void {
    const { channel, request } = this.#options;
    const stream = channel.stream(
      '/etcdserverpb.Watch/Watch',
      {
        message: (bytes) => this.#onAnswer(decodeWatch(new ProtoReader(bytes))),
        ended: (error) => this.#onStreamEnd(error),
      },
      // The stream is to fail rather than to stay silent when the member loses its leader.
      { hasleader: 'true' },
    );
    this.#stream = stream;
    stream.send(encodeWatchCreate({ ...request, startRevision: this.#nextRevision }).finish());
    if (this.#progressWanted) stream.send(encodeProgressRequest().finish());
    if (this.#paused) stream.pause();
  }

  #onAnswer(answer: WatchAnswer): void {
    if (this.#ended) return;
    const { observer } = this.#options;
    const { revision, compactRevision, cancelReason, events } = answer;
    this.#delayMs = FIRST_DELAY_MS;
    if (answer.canceled) {
      this.#stream?.cancel();
      if (compactRevision > 0) this.#end(new EtcdError('Compacted', { compactRevision }));
      else this.#end(errorOfText(cancelReason === '' ? 'etcdserver: watch was canceled' : cancelReason));
    } else if (answer.created) {
      if (this.#nextRevision === 0) this.#nextRevision = revision + 1;
      if (!this.#created) observer.created?.(revision);
      this.#created = true;
    } else if (events.length > 0) {
      const last = events.at(-1)!.kv.modRevision;
      this.#nextRevision = last + 1;
      observer.events(events, last);
    } else {
      this.#progressWanted = false;
      this.#nextRevision = Math.max(this.#nextRevision, revision + 1);
      observer.progress?.(revision);
    }
  }

  #onStreamEnd(error: Error | undefined): void {
    if (this.#ended) return;
    this.#stream = undefined;
    if (error !== undefined && !isEtcdError(error, 'Unavailable')) {
      this.#end(error);
      return;
    }
    const { clock } = this.#options;
    this.#retry = clock.setTimer(() => this.#open(), this.#delayMs, { unref: true });
    this.#delayMs = Math.min(this.#delayMs * 2, MAX_DELAY_MS);
  }

  #end(error: Error | undefined): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#options.observer.ended(error);
  }
}
