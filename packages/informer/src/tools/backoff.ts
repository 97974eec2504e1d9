// A finite series of waits, for retries of one piece of work. What runs for ever uses the reflector's BackoffManager.
// Upstream: apimachinery@v0.30.3:pkg/util/wait/backoff.go#Backoff
import { OptionsError } from '@kube-rx/apimachinery';

export interface BackoffSteps {
  /** First wait before jitter, ms. */
  readonly durationMs: number;
  /** Growth from one wait to the next; 0 and 1 keep it. @defaultValue 1 */
  readonly factor?: number;
  /** A wait d becomes d + random * jitter * d. @defaultValue 0 */
  readonly jitter?: number;
  /** Tries of the work; between them is one wait less. */
  readonly steps: number;
  /** Longest wait before jitter, ms; growth ends there. @defaultValue none */
  readonly capMs?: number;
}

/** For a write that meets other writers now and then: 5 tries, about 10 ms apart. Upstream: client-go@v0.30.3:util/retry/util.go */
export const DEFAULT_RETRY: BackoffSteps = { steps: 5, durationMs: 10, factor: 1, jitter: 0.1 };
/** For a write that meets a busy controller: 4 tries, 10 to 250 ms apart. */
export const DEFAULT_BACKOFF: BackoffSteps = { steps: 4, durationMs: 10, factor: 5, jitter: 0.1 };

/** The waits between the tries, in ms. */
export function* waits(backoff: BackoffSteps, random: () => number = Math.random): Generator<number, void, undefined> {
  const { durationMs, factor = 1, jitter = 0, steps, capMs } = backoff;
  if (!(durationMs >= 0)) throw new OptionsError('durationMs', durationMs, 'a number of at least 0');
  if (!(jitter >= 0)) throw new OptionsError('jitter', jitter, 'a number of at least 0');
  if (!(steps >= 1)) throw new OptionsError('steps', steps, 'a number of at least 1');
  let next = durationMs;
  for (let step = 1; step < steps; step++) {
    yield next + random() * jitter * next;
    if (factor !== 0) next *= factor;
    if (capMs !== undefined && next > capMs) next = capMs;
  }
}
