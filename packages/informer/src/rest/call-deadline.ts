// The time limit of a call: of the whole of it, or of silence in it.
import type { Clock, ClockTimer } from '@kube-rx/apimachinery';
import type { TransportResponse } from './transport.ts';

/** Calls back once when so long has gone by since the start or the last progress. */
export class CallDeadline {
  readonly #clock: Clock;
  readonly #limitMs: number;
  readonly #onLate: () => void;
  #since: number;
  #timer: ClockTimer | undefined;

  constructor(clock: Clock, limitMs: number, onLate: () => void) {
    this.#clock = clock;
    this.#limitMs = limitMs;
    this.#onLate = onLate;
    this.#since = clock.now();
    this.#check();
  }

  /** The timer is not moved for each chunk: it looks at the time of the last one when it fires. */
  progress(): void {
    this.#since = this.#clock.now();
  }

  cancel(): void {
    this.#timer?.cancel();
  }

  #check(): void {
    const leftMs = this.#since + this.#limitMs - this.#clock.now();
    if (leftMs > 0) this.#timer = this.#clock.setTimer(() => this.#check(), leftMs);
    else this.#onLate();
  }
}

/** The answer, with its headers and each of its chunks told. */
export function withProgress(response: TransportResponse, onProgress: (() => void) | undefined): TransportResponse {
  if (onProgress === undefined) return response;
  const { body } = response;
  onProgress();
  return {
    ...response,
    body: {
      consume: (sink) =>
        body.consume({
          data(chunk) {
            onProgress();
            sink.data(chunk);
          },
          end: () => sink.end(),
          error: (error) => sink.error(error),
        }),
      pause: () => body.pause(),
      resume: () => body.resume(),
      destroy: () => body.destroy(),
    },
  };
}
