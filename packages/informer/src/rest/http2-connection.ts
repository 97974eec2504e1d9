// One HTTP/2 connection: how many streams it takes, whether the peer is still there, and when it is no longer needed.
// Upstream: golang.org/x/net:http2/transport.go#ClientConn
import type { ClientHttp2Session, ClientHttp2Stream, OutgoingHttpHeaders } from 'node:http2';
import type { Clock, ClockTimer } from '@kube-rx/apimachinery';
import { TransportError } from '../errors.ts';
import type { TransportPurpose } from './transport.ts';

export interface Http2Timing {
  readonly clock: Clock;
  /** A ping after so long without a byte, ms; 0 for none. */
  readonly pingAfterMs: number;
  /** How long the answer to a ping may take, ms. */
  readonly pingTimeoutMs: number;
}

// An unused connection is kept as long as client-go keeps one.
const IDLE_MS = 90_000;

export class Http2Connection {
  readonly #session: ClientHttp2Session;
  readonly #timing: Http2Timing;
  readonly #streams = new Map<ClientHttp2Stream, TransportPurpose>();
  #draining = false;
  #used = false;
  #lastRead: number;
  #health: ClockTimer | undefined;
  #idle: ClockTimer | undefined;

  /** `session` is connected and knows the server's settings. */
  constructor(session: ClientHttp2Session, timing: Http2Timing, onClose: () => void) {
    this.#session = session;
    this.#timing = timing;
    this.#lastRead = timing.clock.now();
    session.on('goaway', () => {
      this.#draining = true;
    });
    // Each stream has the error too; without a listener it would end the process.
    session.on('error', () => {});
    session.once('close', () => {
      this.#draining = true;
      this.#health?.cancel();
      this.#idle?.cancel();
      onClose();
    });
    session.unref();
    this.#armHealth(timing.pingAfterMs);
    this.#armIdle();
  }

  /** Takes another stream now. */
  get usable(): boolean {
    const { closed, destroyed, remoteSettings } = this.#session;
    const limit = remoteSettings.maxConcurrentStreams ?? 100;
    return !this.#draining && !closed && !destroyed && this.#streams.size < limit;
  }

  /** It has carried an answer, so it may have died since. */
  get used(): boolean {
    return this.#used;
  }

  get streams(): number {
    return this.#streams.size;
  }

  /** Opens a stream; throws when the connection has just gone. */
  request(headers: OutgoingHttpHeaders, hasBody: boolean, purpose: TransportPurpose): ClientHttp2Stream {
    const stream = this.#session.request(headers, { endStream: !hasBody });
    if (this.#streams.size === 0) this.#session.ref();
    this.#idle?.cancel();
    this.#idle = undefined;
    this.#streams.set(stream, purpose);
    stream.once('close', () => {
      this.#streams.delete(stream);
      if (this.#streams.size > 0 || this.#session.destroyed) return;
      this.#session.unref();
      this.#armIdle();
    });
    return stream;
  }

  /** Bytes came: the peer is there. */
  activity(): void {
    this.#used = true;
    this.#lastRead = this.#timing.clock.now();
  }

  /** Takes no more requests; what runs may end. With `cutWatches` the watches end now, to be opened elsewhere. */
  retire(cutWatches: boolean): void {
    this.#draining = true;
    if (cutWatches) {
      for (const [stream, purpose] of this.#streams) if (purpose === 'watch') stream.destroy(MOVED);
    }
    if (!this.#session.destroyed) this.#session.close();
  }

  #armIdle(): void {
    this.#idle = this.#timing.clock.setTimer(() => this.retire(false), IDLE_MS, { unref: true });
  }

  #armHealth(delayMs: number): void {
    if (this.#timing.pingAfterMs <= 0) return;
    this.#health = this.#timing.clock.setTimer(() => this.#checkHealth(), delayMs, { unref: true });
  }

  #checkHealth(): void {
    const { clock, pingAfterMs } = this.#timing;
    const leftMs = this.#lastRead + pingAfterMs - clock.now();
    if (leftMs > 0) this.#armHealth(leftMs);
    else if (!this.#session.destroyed) this.#ping();
  }

  #ping(): void {
    const { clock, pingAfterMs, pingTimeoutMs } = this.#timing;
    const lost = new TransportError('TIMEOUT', `no answer to an HTTP/2 ping within ${pingTimeoutMs} ms`);
    this.#health = clock.setTimer(() => this.#session.destroy(lost), pingTimeoutMs, { unref: true });
    this.#session.ping((error: Error | null) => {
      if (error !== null) return;
      this.#health?.cancel();
      this.activity();
      this.#armHealth(pingAfterMs);
    });
  }
}

const MOVED = new TransportError('EOF', 'the connection is replaced because certificates have changed');
