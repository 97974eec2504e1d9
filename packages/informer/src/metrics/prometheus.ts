// A small metrics registry with Prometheus' text format, and the metrics of reflectors and work queues on it.
// Any other system plugs in through the same two provider types.
import type { ReflectorMetricsProvider } from '../reflector/reflector-metrics.ts';
import type { WorkQueueMetricsProvider } from '../workqueue/metrics.ts';

type Labels = Readonly<Record<string, string>>;
type Kind = 'counter' | 'gauge' | 'histogram';

interface Series {
  readonly labels: Labels;
  value: number;
  count: number;
  readonly buckets: number[];
}
interface Family {
  readonly kind: Kind;
  readonly help: string;
  readonly bounds: readonly number[];
  readonly series: Map<string, Series>;
}

const SECONDS: readonly number[] = [0.001, 0.005, 0.025, 0.1, 0.5, 1, 5, 30, 300, 1800];
const ITEMS: readonly number[] = [1, 10, 100, 1000, 10_000, 100_000];

export class PrometheusRegistry {
  readonly #families = new Map<string, Family>();

  count(name: string, help: string, labels: Labels, by = 1): void {
    this.#series('counter', name, help, labels, []).value += by;
  }

  set(name: string, help: string, labels: Labels, value: number): void {
    this.#series('gauge', name, help, labels, []).value = value;
  }

  observe(name: string, help: string, labels: Labels, value: number, bounds: readonly number[] = SECONDS): void {
    const series = this.#series('histogram', name, help, labels, bounds);
    series.value += value;
    series.count++;
    bounds.forEach((bound, index) => {
      if (value <= bound) series.buckets[index]!++;
    });
  }

  /** Everything in the text exposition format, families in the order of their first use. */
  text(): string {
    const lines: string[] = [];
    for (const [name, family] of this.#families) {
      lines.push(`# HELP ${name} ${family.help}`, `# TYPE ${name} ${family.kind}`);
      for (const series of family.series.values()) {
        if (family.kind !== 'histogram') {
          lines.push(`${name}${format(series.labels)} ${series.value}`);
          continue;
        }
        family.bounds.forEach((bound, index) => {
          lines.push(`${name}_bucket${format({ ...series.labels, le: String(bound) })} ${series.buckets[index]}`);
        });
        lines.push(`${name}_bucket${format({ ...series.labels, le: '+Inf' })} ${series.count}`);
        lines.push(
          `${name}_sum${format(series.labels)} ${series.value}`,
          `${name}_count${format(series.labels)} ${series.count}`,
        );
      }
    }
    return lines.length === 0 ? '' : `${lines.join('\n')}\n`;
  }

  #series(kind: Kind, name: string, help: string, labels: Labels, bounds: readonly number[]): Series {
    let family = this.#families.get(name);
    if (family === undefined) {
      family = { kind, help, bounds, series: new Map() };
      this.#families.set(name, family);
    }
    const key = format(labels);
    let series = family.series.get(key);
    if (series === undefined) {
      series = { labels, value: 0, count: 0, buckets: bounds.map(() => 0) };
      family.series.set(key, series);
    }
    return series;
  }
}

function format(labels: Labels): string {
  const parts = Object.entries(labels).map(
    ([name, value]) => `${name}="${value.replace(/[\\"\n]/g, (each) => (each === '\n' ? '\\n' : `\\${each}`))}"`,
  );
  return parts.length === 0 ? '' : `{${parts.join(',')}}`;
}

/** client-go's reflector metrics, and faults and waits. */
export function reflectorMetricsOn(registry: PrometheusRegistry): ReflectorMetricsProvider {
  return (name) => {
    const labels = { name };
    return {
      listed(seconds, items) {
        registry.count('reflector_lists_total', 'Total number of API lists done by the reflectors', labels);
        registry.observe(
          'reflector_list_duration_seconds',
          'How long an API list takes to return and decode',
          labels,
          seconds,
        );
        registry.observe('reflector_items_per_list', 'How many items an API list returns', labels, items, ITEMS);
      },
      watched(seconds, events, short) {
        registry.count('reflector_watches_total', 'Total number of API watches done by the reflectors', labels);
        if (short)
          registry.count(
            'reflector_short_watches_total',
            'Total number of short API watches done by the reflectors',
            labels,
          );
        registry.observe(
          'reflector_watch_duration_seconds',
          'How long an API watch takes to return and decode',
          labels,
          seconds,
        );
        registry.observe('reflector_items_per_watch', 'How many items an API watch returns', labels, events, ITEMS);
      },
      lastResourceVersion(version) {
        registry.set(
          'reflector_last_resource_version',
          'Last resource version seen by the reflectors',
          labels,
          version,
        );
      },
      fault(kind, verb) {
        registry.count('reflector_faults_total', 'Faults by class and verb', { ...labels, kind, verb });
      },
      waits(seconds) {
        registry.count('reflector_backoff_seconds_total', 'Seconds waited after failures', labels, seconds);
      },
    };
  };
}

/** client-go's work queue metrics. */
export function workQueueMetricsOn(registry: PrometheusRegistry): WorkQueueMetricsProvider {
  return (name) => {
    const labels = { name };
    return {
      depth: (items) => registry.set('workqueue_depth', 'Current depth of workqueue', labels, items),
      added: () => registry.count('workqueue_adds_total', 'Total number of adds handled by workqueue', labels),
      queueDuration: (seconds) =>
        registry.observe(
          'workqueue_queue_duration_seconds',
          'How long an item stays in workqueue before being requested',
          labels,
          seconds,
        ),
      workDuration: (seconds) =>
        registry.observe(
          'workqueue_work_duration_seconds',
          'How long processing an item from workqueue takes',
          labels,
          seconds,
        ),
      retried: () => registry.count('workqueue_retries_total', 'Total number of retries handled by workqueue', labels),
      unfinishedWork: (seconds) =>
        registry.set(
          'workqueue_unfinished_work_seconds',
          'Seconds of work in progress that work_duration has not observed yet',
          labels,
          seconds,
        ),
      longestRunningProcessor: (seconds) =>
        registry.set(
          'workqueue_longest_running_processor_seconds',
          'How long the longest running processor has been running',
          labels,
          seconds,
        ),
    };
  };
}
