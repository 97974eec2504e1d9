// What requests leave in the metrics, under upstream's names.
// Upstream: apiserver@v0.30.3:pkg/endpoints/metrics/metrics.go
import type { Clock } from '@kube-rx/apimachinery';
import type { HttpRequest, HttpResponse } from '../endpoints/http.ts';
import { isLongRunning, type RequestInfo } from '../endpoints/request-info.ts';
import type { WatchMetrics } from '../endpoints/watch-server.ts';
import type { ResourceInfo } from '../registry/rest.ts';
import type { Counter, Histogram, MetricLabels, Metrics } from '../storage/metrics.ts';

/** Series of one request; call `done` at its end. */
export interface RequestRecord {
  done(response: HttpResponse): void;
}

export class RequestMetrics {
  readonly #metrics: Metrics;
  readonly #clock: Clock;
  readonly #watches = new Map<string, WatchMetrics>();

  constructor(metrics: Metrics, clock: Clock) {
    this.#metrics = metrics;
    this.#clock = clock;
  }

  begin(info: RequestInfo, request: HttpRequest): RequestRecord {
    const labels = labelsOf(info);
    const started = this.#clock.now();
    const longRunning = isLongRunning(info);
    const open = longRunning
      ? this.#metrics.gauge('apiserver_longrunning_requests', labels)
      : this.#metrics.gauge('apiserver_current_inflight_requests', { request_kind: kindOf(request.method) });
    open.add(1);
    return {
      done: (response) => {
        open.add(-1);
        const dryRun = request.query.first('dryRun') ?? '';
        // A quirk of this version: a watch counts when it ends, with code 0.
        const code = info.verb === 'watch' && response.status === 200 ? '0' : String(response.status);
        this.#metrics.counter('apiserver_request_total', { ...labels, dry_run: dryRun, code }).inc();
        if (longRunning) return;
        const seconds = (this.#clock.now() - started) / 1000;
        this.#metrics.histogram('apiserver_request_duration_seconds', { ...labels, dry_run: dryRun }).observe(seconds);
      },
    };
  }

  /** Shared by all watches of a kind. */
  watch({ group, version, kind }: ResourceInfo): WatchMetrics {
    const key = `${group}/${version}/${kind}`;
    let known = this.#watches.get(key);
    if (known === undefined) {
      const labels = { group, version, kind };
      known = new KindWatchMetrics(
        this.#metrics.counter('apiserver_watch_events_total', labels),
        this.#metrics.histogram('apiserver_watch_events_sizes', labels),
      );
      this.#watches.set(key, known);
    }
    return known;
  }
}

class KindWatchMetrics implements WatchMetrics {
  readonly #events: Counter;
  readonly #sizes: Histogram;

  constructor(events: Counter, sizes: Histogram) {
    this.#events = events;
    this.#sizes = sizes;
  }

  sent(bytes: number): void {
    this.#events.inc();
    this.#sizes.observe(bytes);
  }
}

const kindOf = (method: string): string => (method === 'GET' || method === 'HEAD' ? 'readOnly' : 'mutating');

const UPPER_CASE: Readonly<Record<string, string>> = {
  create: 'POST',
  update: 'PUT',
  deletecollection: 'DELETECOLLECTION',
};

function labelsOf(info: RequestInfo): MetricLabels {
  const { apiGroup: group, apiVersion: version, resource, subresource } = info;
  const verb = UPPER_CASE[info.verb] ?? info.verb.toUpperCase();
  return { verb, group, version, resource, subresource, scope: scopeOf(info), component: 'apiserver' };
}

function scopeOf(info: RequestInfo): string {
  if (!info.isResourceRequest) return '';
  if (info.name !== '') return 'resource';
  return info.namespace === '' ? 'cluster' : 'namespace';
}
