// What storage reports while it runs, under upstream's metric names; the host decides what becomes of it.
// Upstream: apiserver@v0.30.3:pkg/storage/cacher/metrics/metrics.go, pkg/storage/etcd3/metrics/metrics.go

export type MetricLabels = Readonly<Record<string, string>>;

export interface Counter {
  inc(by?: number): void;
}
export interface Gauge {
  set(value: number): void;
  add(by: number): void;
}
export interface Histogram {
  observe(value: number): void;
}

/** Asking twice for the same name and labels gives the same series, so callers keep what they got. */
export interface Metrics {
  counter(name: string, labels?: MetricLabels): Counter;
  gauge(name: string, labels?: MetricLabels): Gauge;
  histogram(name: string, labels?: MetricLabels): Histogram;
  /** Has gauges set that are cheaper to read than to keep, before each time somebody looks. */
  onCollect?(collect: () => void | Promise<void>): void;
}

const ignore = { inc(): void {}, set(): void {}, add(): void {}, observe(): void {} };

/** Reports nowhere. */
export const noMetrics: Metrics = { counter: () => ignore, gauge: () => ignore, histogram: () => ignore };
