// What a reflector tells a metrics system. Times are in seconds.
// Upstream: client-go@v0.30.3:tools/cache/reflector_metrics.go#MetricsProvider
// Differs: wired; upstream declares these and calls none of them. Faults, waits and events are ours.
import type { FaultKind, FaultVerb } from './informer-status.ts';

/** One reflector's metrics. All calls are synchronous and must not throw. */
export interface ReflectorMetrics {
  /** A LIST with all its pages succeeded. */
  listed(seconds: number, items: number): void;
  /** A watch has ended; `short` when it lived less than a second and brought nothing. */
  watched(seconds: number, events: number, short: boolean): void;
  /** Version of the last list, event or bookmark, its last 15 digits where it has more. */
  lastResourceVersion(version: number): void;
  fault(kind: FaultKind, verb: FaultVerb): void;
  /** A wait after a failure began. */
  waits(seconds: number): void;
}

/** Makes the metrics of a reflector; called once for each with its name. */
export type ReflectorMetricsProvider = (name: string) => ReflectorMetrics;

/** A gauge is a float: digits beyond the fifteenth from the right would be wrong, so they are left out. */
export function versionGauge(resourceVersion: string): number {
  return /^[0-9]+$/.test(resourceVersion) ? Number(resourceVersion.slice(-15)) : 0;
}
