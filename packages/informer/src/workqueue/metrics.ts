// What a work queue tells a metrics system. Times are in seconds, as in the upstream metrics of the same names.
// Upstream: client-go@v0.30.3:util/workqueue/metrics.go#MetricsProvider

/** One queue's metrics. All calls are synchronous and must not throw. */
export interface WorkQueueMetrics {
  /** Items that are ready and not being worked on. Gauge. */
  depth(items: number): void;
  /** An add that was accepted; adds of an item that is queued already do not count. Counter. */
  added(): void;
  /** From the first add to the hand-out. Histogram. */
  queueDuration(seconds: number): void;
  /** From the hand-out to `done`. Histogram. */
  workDuration(seconds: number): void;
  /** An `addAfter` or `addRateLimited`. Counter. */
  retried(): void;
  /** Sum of the running times of what is being worked on. Gauge, refreshed every 500 ms while there is work. */
  unfinishedWork(seconds: number): void;
  /** The longest of them. Gauge, refreshed with `unfinishedWork`. */
  longestRunningProcessor(seconds: number): void;
}

/** Makes the metrics of a queue; called once per queue with its name. */
export type WorkQueueMetricsProvider = (queueName: string) => WorkQueueMetrics;

export const UNFINISHED_WORK_PERIOD_MS = 500;
