// One item in a worker's hands. Whatever the worker does, `done` is called once.

export interface RetryOptions {
  /** Wait in ms instead of the rate limiter's; it also ends the item's series of failures. */
  readonly afterMs?: number;
}

/** The first verdict counts; disposal without one is a retry. */
export interface WorkItem<T> extends Disposable {
  readonly key: T;
  /** Failures in a row before this try. */
  readonly failures: number;
  readonly settled: boolean;
  /** Ends the item's series of failures. */
  succeed(): void;
  /** Puts the item back after a wait. */
  retry(options?: RetryOptions): void;
}

/** What a work item needs of its queue. */
export interface WorkItemOwner<T> {
  numRequeues(item: T): number;
  forget(item: T): void;
  addRateLimited(item: T): void;
  addAfter(item: T, delayMs: number): void;
  done(item: T): void;
}

export function workItem<T>(queue: WorkItemOwner<T>, key: T): WorkItem<T> {
  let settled = false;
  const settle = (verdict: () => void): void => {
    if (settled) return;
    settled = true;
    verdict();
    queue.done(key);
  };
  const retry = ({ afterMs }: RetryOptions = {}): void =>
    settle(() => {
      if (afterMs === undefined) {
        queue.addRateLimited(key);
      } else {
        queue.forget(key);
        queue.addAfter(key, afterMs);
      }
    });
  return {
    key,
    failures: queue.numRequeues(key),
    get settled() {
      return settled;
    },
    succeed: () => settle(() => queue.forget(key)),
    retry,
    [Symbol.dispose]: () => retry(),
  };
}
