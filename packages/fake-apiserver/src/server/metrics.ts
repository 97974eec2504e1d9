// The metrics of this process, and the text format in which Prometheus reads them.
// Upstream: component-base@v0.30.3:metrics
import type { Counter, Gauge, Histogram, MetricLabels, Metrics } from '../storage/metrics.ts';
import { METRIC_FAMILIES, type MetricFamily } from './metric-families.ts';

/** Content type of {@link MetricsRegistry.render}. */
export const METRICS_CONTENT_TYPE = 'text/plain; version=0.0.4; charset=utf-8';

const DEFAULT_BUCKETS: readonly number[] = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

/**
 * Families known by name have their help text and buckets; a name nobody knows becomes a family of its own, with the kind
 * of its first use.
 *
 * @example
 * const registry = new MetricsRegistry();
 * registry.counter('apiserver_init_events_total', { resource: 'pods' }).inc();
 * response.end(registry.render());
 */
export class MetricsRegistry implements Metrics {
  readonly #families = new Map<string, Family>();
  readonly #collectors: (() => void | Promise<void>)[] = [];

  counter(name: string, labels: MetricLabels = {}): Counter {
    return this.#family(name, 'counter').series(labels, () => new Value());
  }

  gauge(name: string, labels: MetricLabels = {}): Gauge {
    return this.#family(name, 'gauge').series(labels, () => new Value());
  }

  histogram(name: string, labels: MetricLabels = {}): Histogram {
    const family = this.#family(name, 'histogram');
    return family.series(labels, () => new Distribution(family.buckets));
  }

  /** Runs before each rendering, for gauges that are cheaper to read than to keep. */
  onCollect(collect: () => void | Promise<void>): void {
    this.#collectors.push(collect);
  }

  /** Takes a series away, e.g. of a resource that is no longer served. */
  remove(name: string, labels: MetricLabels): void {
    this.#families.get(name)?.remove(labels);
  }

  async collect(): Promise<string> {
    for (const collect of this.#collectors) await collect();
    return this.render();
  }

  /** Families and series in alphabetical order, as the real server prints them. */
  render(): string {
    const names = [...this.#families.keys()].sort();
    return names.map((name) => this.#families.get(name)!.render()).join('');
  }

  #family(name: string, kind: MetricFamily['kind']): Family {
    let family = this.#families.get(name);
    if (family === undefined) {
      const known = METRIC_FAMILIES.get(name);
      family = new Family(name, known?.kind ?? kind, known?.help ?? name, known?.buckets ?? DEFAULT_BUCKETS);
      this.#families.set(name, family);
    }
    if (family.kind !== kind) throw new TypeError(`metric ${name} is a ${family.kind}, not a ${kind}`);
    return family;
  }
}

interface Series {
  render(name: string, labels: string): string;
}

class Family {
  readonly kind: MetricFamily['kind'];
  readonly buckets: readonly number[];
  readonly #name: string;
  readonly #help: string;
  readonly #series = new Map<string, Series>();

  constructor(name: string, kind: MetricFamily['kind'], help: string, buckets: readonly number[]) {
    this.#name = name;
    this.kind = kind;
    this.#help = help;
    this.buckets = buckets;
  }

  series<S extends Series>(labels: MetricLabels, make: () => S): S {
    const key = renderLabels(labels);
    const known = this.#series.get(key);
    // One family holds one kind of series, which #family has checked.
    if (known !== undefined) return known as S;
    const series = make();
    this.#series.set(key, series);
    return series;
  }

  remove(labels: MetricLabels): void {
    this.#series.delete(renderLabels(labels));
  }

  render(): string {
    const lines = [`# HELP ${this.#name} ${this.#help.replace(/\\/g, '\\\\').replace(/\n/g, '\\n')}\n`];
    lines.push(`# TYPE ${this.#name} ${this.kind}\n`);
    for (const labels of [...this.#series.keys()].sort()) {
      lines.push(this.#series.get(labels)!.render(this.#name, labels));
    }
    return lines.join('');
  }
}

class Value implements Counter, Gauge, Series {
  #value = 0;

  inc(by: number = 1): void {
    this.#value += by;
  }

  add(by: number): void {
    this.#value += by;
  }

  set(value: number): void {
    this.#value = value;
  }

  render(name: string, labels: string): string {
    return `${name}${braced(labels)} ${formatNumber(this.#value)}\n`;
  }
}

class Distribution implements Histogram, Series {
  readonly #bounds: readonly number[];
  readonly #counts: number[];
  #sum = 0;
  #count = 0;

  constructor(bounds: readonly number[]) {
    this.#bounds = bounds;
    this.#counts = bounds.map(() => 0);
  }

  observe(value: number): void {
    this.#sum += value;
    this.#count++;
    const bucket = this.#bounds.findIndex((bound) => value <= bound);
    if (bucket >= 0) this.#counts[bucket]!++;
  }

  render(name: string, labels: string): string {
    const lines: string[] = [];
    let cumulative = 0;
    const prefix = labels === '' ? '' : `${labels},`;
    this.#bounds.forEach((bound, index) => {
      cumulative += this.#counts[index]!;
      lines.push(`${name}_bucket{${prefix}le="${formatNumber(bound)}"} ${cumulative}\n`);
    });
    lines.push(`${name}_bucket{${prefix}le="+Inf"} ${this.#count}\n`);
    lines.push(`${name}_sum${braced(labels)} ${formatNumber(this.#sum)}\n`);
    lines.push(`${name}_count${braced(labels)} ${this.#count}\n`);
    return lines.join('');
  }
}

function renderLabels(labels: MetricLabels): string {
  return Object.keys(labels)
    .sort()
    .map((name) => `${name}="${escapeLabel(labels[name]!)}"`)
    .join(',');
}

function braced(labels: string): string {
  return labels === '' ? '' : `{${labels}}`;
}

const ESCAPED = /[\\"\n]/;

function escapeLabel(value: string): string {
  return !ESCAPED.test(value) ? value : value.replace(/\\/g, '\\\\').replace(/"/g, '\\"').replace(/\n/g, '\\n');
}

/** As Go prints a float in the shortest form: exponents from 21 digits on, with two digits at least. */
function formatNumber(value: number): string {
  if (Number.isNaN(value)) return 'NaN';
  if (!Number.isFinite(value)) return value > 0 ? '+Inf' : '-Inf';
  if (Math.abs(value) >= 1e6 && Number.isInteger(value)) {
    const [mantissa, exponent] = value.toExponential().split('e') as [string, string];
    return `${mantissa}e${exponent[0]}${exponent.slice(1).padStart(2, '0')}`;
  }
  return String(value);
}
