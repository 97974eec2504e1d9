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

// After so long without a byte a request that is given up throws doubt on its connection.
const DOUBT_AFTER_MS = 1_000;
// How long new requests wait for a connection in doubt before they get another one.
const DOUBT_MS = 1_000;
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
  #pinging = false;
  #doubt: Doubt | undefined;

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
      this.#trust();
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
    return !this.#draining && !closed && !destroyed && this.#doubt === undefined && this.#streams.size < limit;
  }

  /** While it is not certain that the peer is still there: settles when it is, or when waiting has no point any more. */
  get verdict(): Promise<void> | undefined {
    return this.#doubt?.hopeless === false ? this.#doubt.verdict : undefined;
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
    this.#trust();
  }

  /**
   * A request was given up. If nothing came for a while the peer may be gone without a word: it is pinged, and until it answers new requests
   * are better off elsewhere, as each of them would be given up in its turn.
   */
  suspect(): void {
    const { clock } = this.#timing;
    // A session that was destroyed says so only in the next turn.
    if (
      this.#session.destroyed ||
      this.#draining ||
      this.#doubt !== undefined ||
      clock.now() - this.#lastRead < DOUBT_AFTER_MS
    )
      return;
    this.#doubt = new Doubt(clock);
    if (this.#pinging) return;
    this.#health?.cancel();
    this.#ping();
  }

  #trust(): void {
    this.#doubt?.end();
    this.#doubt = undefined;
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
    this.#pinging = true;
    const { clock, pingAfterMs, pingTimeoutMs } = this.#timing;
    const lost = new TransportError('TIMEOUT', `no answer to an HTTP/2 ping within ${pingTimeoutMs} ms`);
    this.#health = clock.setTimer(() => this.#session.destroy(lost), pingTimeoutMs, { unref: true });
    this.#session.ping((error: Error | null) => {
      this.#pinging = false;
      if (error !== null) return;
      this.#health?.cancel();
      this.activity();
      this.#armHealth(pingAfterMs);
    });
  }
}

/** Ends by itself after a while, in the worst. */
class Doubt {
  readonly verdict: Promise<void>;
  hopeless = false;
  readonly #timer: ClockTimer;
  #resolve: () => void = () => {};

  constructor(clock: Clock) {
    this.verdict = new Promise((resolve) => {
      this.#resolve = resolve;
    });
    const giveUp = (): void => {
      this.hopeless = true;
      this.#resolve();
    };
    this.#timer = clock.setTimer(giveUp, DOUBT_MS, { unref: true });
  }

  end(): void {
    this.#timer.cancel();
    this.#resolve();
  }
}

const MOVED = new TransportError('EOF', 'the connection is replaced because certificates have changed');
