// How long an internal error of the server is answered by an immediate new watch. Pure.
// Upstream: client-go@v0.30.3:tools/cache/retry_with_deadline.go#retryWithDeadline

/** State of the window; `start` and `last` are clock times of the first and the last retry of the streak. */
export interface RetryWindow {
  readonly startedAt: number;
  readonly lastAt: number;
}

export const NO_RETRY_WINDOW: RetryWindow = { startedAt: Number.NEGATIVE_INFINITY, lastAt: Number.NEGATIVE_INFINITY };

const STREAK_RESET_MS = 60_000;

/**
 * Whether a failure at `now` is still inside the window, and the window afterwards. A streak whose last failure is older than a
 * minute starts anew. A window of 0 is always closed.
 */
export function retryInWindow(
  window: RetryWindow,
  now: number,
  maxMs: number,
): { readonly retry: boolean; readonly window: RetryWindow } {
  if (maxMs <= 0) return { retry: false, window };
  const startedAt = now - window.lastAt > STREAK_RESET_MS ? now : window.startedAt;
  return { retry: now - startedAt < maxMs, window: { startedAt, lastAt: now } };
}
