// The only source of time: everything that waits does so through a Clock.
// Upstream: k8s.io/utils/clock

export interface TimerOptions {
  /** A timer that does not keep the process alive. Default false. */
  readonly unref?: boolean;
}

export interface ClockTimer {
  /** Idempotent; after it the function never runs. */
  cancel(): void;
}

/** Time and timers. Delays above 2^31-1 ms are honoured, negative ones count as 0. */
export interface Clock {
  /** Whole milliseconds since 1970. Never jumps when somebody sets the time of the machine, so that differences are durations. */
  now(): number;
  /** The time of day as the machine has it at this moment, to be compared with what others wrote down. @defaultValue `now` */
  wall?(): number;
  setTimer(run: () => void, delayMs: number, options?: TimerOptions): ClockTimer;
}

// Node fires a longer timer at once.
const MAX_DELAY_MS = 2 ** 31 - 1;

/** The clock of the machine: the time of day when the process began, moved on by a clock that nobody can set. */
export const realClock: Clock = {
  now: () => Math.floor(performance.timeOrigin + performance.now()),
  wall: () => Date.now(),
  setTimer(run, delayMs, options = {}) {
    let handle: ReturnType<typeof setTimeout>;
    const arm = (leftMs: number): void => {
      const stepMs = Math.min(Math.max(leftMs, 0), MAX_DELAY_MS);
      handle = setTimeout(() => (leftMs > stepMs ? arm(leftMs - stepMs) : run()), stepMs);
      if (options.unref) (handle as { unref?: () => void }).unref?.();
    };
    arm(delayMs);
    return { cancel: () => clearTimeout(handle) };
  },
};

export interface SleepOptions extends TimerOptions {
  readonly signal?: AbortSignal | undefined;
}

/** Resolves after `delayMs` of that clock; rejects with the signal's reason when it aborts first. */
export function sleep(clock: Clock, delayMs: number, options: SleepOptions = {}): Promise<void> {
  const { signal } = options;
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason);
    const onAbort = (): void => {
      timer.cancel();
      reject(signal?.reason);
    };
    const timer = clock.setTimer(
      () => {
        signal?.removeEventListener('abort', onAbort);
        resolve();
      },
      delayMs,
      options,
    );
    signal?.addEventListener('abort', onAbort, { once: true });
  });
}
