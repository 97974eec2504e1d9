// One watch request from sending to its end: start time, liveness, and the handler that applies its events.
import type { Clock, ClockTimer, KubernetesObject } from '@kube-rx/apimachinery';
import type { ChildSignal } from '../rest/child-signal.ts';
import type { WatchStream } from '../rest/lister-watcher.ts';
import type { WatchHandler } from './watch-handler.ts';

export interface StreamSessionOptions<T extends KubernetesObject> {
  readonly clock: Clock;
  readonly unref: boolean;
  readonly child: ChildSignal;
  /** Longest silence at this moment, ms; 0 for no limit. */
  readonly idleLimitMs: (session: StreamSession<T>) => number;
  readonly onIdle: (session: StreamSession<T>) => void;
}

/**
 * Counts silence from the last byte, not from the last event. The timer is not moved for each byte: it looks at the time of the last
 * one when it fires, and sleeps again for what is left.
 */
export class StreamSession<T extends KubernetesObject> {
  readonly #options: StreamSessionOptions<T>;
  #timer: ClockTimer | undefined;
  #stream: WatchStream<T> | undefined;
  #closed = false;
  /** When the request was sent; a very short watch counts from here. */
  startedAt: number;
  lastActivity: number;
  handler: WatchHandler<T> | undefined;

  constructor(options: StreamSessionOptions<T>) {
    this.#options = options;
    this.startedAt = options.clock.now();
    this.lastActivity = this.startedAt;
    this.#arm();
  }

  get signal(): AbortSignal {
    return this.#options.child.signal;
  }

  get closed(): boolean {
    return this.#closed;
  }

  attach(stream: WatchStream<T>): void {
    if (this.#closed) stream.stop();
    else this.#stream = stream;
  }

  activity(): void {
    this.lastActivity = this.#options.clock.now();
  }

  /** The live phase begins on the stream of a streaming list: counts anew, with another limit. */
  restart(): void {
    this.startedAt = this.#options.clock.now();
    this.#arm();
  }

  /** `spareOpening` lets a request that is not answered yet run on. */
  close(spareOpening = false): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#timer?.cancel();
    this.#stream?.stop();
    const { child } = this.#options;
    if (!spareOpening || this.#stream !== undefined) child.abort();
    child.release();
  }

  #arm(): void {
    this.#timer?.cancel();
    this.#timer = undefined;
    const limitMs = this.#options.idleLimitMs(this);
    if (limitMs <= 0 || this.#closed) return;
    const { clock, unref } = this.#options;
    const leftMs = this.lastActivity + limitMs - clock.now();
    this.#timer = clock.setTimer(() => this.#check(), Math.max(leftMs, 1), { unref });
  }

  #check(): void {
    const limitMs = this.#options.idleLimitMs(this);
    if (limitMs > 0 && this.#options.clock.now() - this.lastActivity >= limitMs) this.#options.onIdle(this);
    else this.#arm();
  }
}
