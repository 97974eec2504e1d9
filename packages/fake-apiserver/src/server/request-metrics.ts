// What requests leave in the metrics, under upstream's names.
// Upstream: apiserver@v0.30.3:pkg/endpoints/metrics/metrics.go
import type { Clock } from '@kube-rx/apimachinery';
import type { HttpRequest, HttpResponse } from '../endpoints/http.ts';
import { isLongRunning, type RequestInfo } from '../endpoints/request-info.ts';
import type { WatchMetrics } from '../endpoints/watch-server.ts';
import type { ResourceInfo } from '../registry/rest.ts';
import type { Counter, Gauge, Histogram, MetricLabels, Metrics } from '../storage/metrics.ts';

/** Series of one request; call `done` at its end. */
export interface RequestRecord {
  done(response: HttpResponse): void;
}

export class RequestMetrics {
  readonly #metrics: Metrics;
  readonly #clock: Clock;
  readonly #watches = new Map<string, WatchMetrics>();
  readonly #requests = new Map<string, RequestSeries>();

  constructor(metrics: Metrics, clock: Clock) {
    this.#metrics = metrics;
    this.#clock = clock;
  }

  begin(info: RequestInfo, request: HttpRequest): RequestRecord {
    const started = this.#clock.now();
    const longRunning = isLongRunning(info);
    const series = this.#seriesOf(info, longRunning, request.method);
    const { open } = series;
    open.add(1);
    return {
      done: (response) => {
        open.add(-1);
        const dryRun = request.query.first('dryRun') ?? '';
        // A quirk of this version: a watch counts when it ends, with code 0.
        const code = info.verb === 'watch' && response.status === 200 ? '0' : String(response.status);
        series.total(dryRun, code).inc();
        if (longRunning) return;
        series.duration(dryRun).observe((this.#clock.now() - started) / 1000);
      },
    };
  }

  #seriesOf(info: RequestInfo, longRunning: boolean, method: string): RequestSeries {
    const labels = labelsOf(info);
    // None of these can hold a slash; paths without a resource share one entry per verb.
    const key = `${Object.values(labels).join('/')}/${longRunning ? '' : kindOf(method)}`;
    let known = this.#requests.get(key);
    if (known === undefined) {
      if (this.#requests.size >= MAX_KNOWN) this.#requests.clear();
      const open = longRunning
        ? this.#metrics.gauge('apiserver_longrunning_requests', labels)
        : this.#metrics.gauge('apiserver_current_inflight_requests', { request_kind: kindOf(method) });
      known = new RequestSeries(this.#metrics, labels, open);
      this.#requests.set(key, known);
    }
    return known;
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

/** Looking a series up by its labels costs more than counting, so those of like requests are kept at hand. */
const MAX_KNOWN = 1000;

class RequestSeries {
  readonly open: Gauge;
  readonly #metrics: Metrics;
  readonly #labels: MetricLabels;
  readonly #totals = new Map<string, Counter>();
  readonly #durations = new Map<string, Histogram>();

  constructor(metrics: Metrics, labels: MetricLabels, open: Gauge) {
    this.#metrics = metrics;
    this.#labels = labels;
    this.open = open;
  }

  total(dryRun: string, code: string): Counter {
    const find = (): Counter =>
      this.#metrics.counter('apiserver_request_total', { ...this.#labels, dry_run: dryRun, code });
    // What a client makes up is not worth keeping.
    return dryRun === '' ? kept(this.#totals, code, find) : find();
  }

  duration(dryRun: string): Histogram {
    const find = (): Histogram =>
      this.#metrics.histogram('apiserver_request_duration_seconds', { ...this.#labels, dry_run: dryRun });
    return dryRun === '' ? kept(this.#durations, dryRun, find) : find();
  }
}

function kept<T>(known: Map<string, T>, key: string, find: () => T): T {
  let value = known.get(key);
  if (value === undefined) {
    value = find();
    known.set(key, value);
  }
  return value;
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
