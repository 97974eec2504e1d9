// One informer of ours in a process of its own: syncs, says so, counts updates, prints its figures as a line of JSON.
// Takes the same flags as the informer programs of other clients, so that one harness can run them all.
import { writeFileSync } from 'node:fs';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { parseArgs } from 'node:util';
import {
  bearerToken,
  createAxiosTransport,
  defineResource,
  ListWatch,
  RestClient,
  SharedIndexInformer,
} from '@kube-rx/informer';
import { quantile } from './figures.ts';
import { memoryKib } from './process-use.ts';

const { values } = parseArgs({
  strict: false,
  options: {
    server: { type: 'string' },
    token: { type: 'string', default: 'admintoken' },
    ns: { type: 'string', default: 'bench' },
    kind: { type: 'string', default: 'configmap' },
    updates: { type: 'string', default: '0' },
    wait: { type: 'string', default: '120' },
    'ready-file': { type: 'string', default: '' },
    tag: { type: 'string', default: '' },
    storage: { type: 'string', default: 'objects' },
    'server-pid': { type: 'string' },
  },
});
const text = (name: keyof typeof values): string => String(values[name] ?? '');

interface Measured {
  readonly apiVersion?: 'v1';
  readonly kind?: 'ConfigMap' | 'Pod';
  readonly metadata?: {
    readonly name?: string;
    readonly namespace?: string;
    readonly annotations?: Record<string, string>;
  };
  readonly data?: Record<string, string>;
}
const isPod = text('kind') === 'pod';
const type = defineResource<Measured>()({
  apiVersion: 'v1',
  kind: isPod ? 'Pod' : 'ConfigMap',
  plural: isPod ? 'pods' : 'configmaps',
  scope: 'Namespaced',
});

const collect = (globalThis as { gc?: () => void }).gc;
const cpu = (): number => {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1e6;
};
const rss = (key: 'VmRSS' | 'VmHWM'): number => (memoryKib(process.pid, key) ?? 0) / 1_024;
const digits = (value: number): number => Number(value.toPrecision(5));
const nowNs = (): number => (performance.timeOrigin + performance.now()) * 1e6;

// Before the clock starts, as the other programs load their libraries and read their configuration.
const transport = createAxiosTransport({ tls: () => ({ insecureSkipTlsVerify: true }) });
const rest = new RestClient({ server: text('server'), transport, auth: bearerToken(text('token')) });
await rest.text({ path: '/version' });
collect?.();
const heapBefore = process.memoryUsage().heapUsed;
const rssBefore = rss('VmRSS');
const cpuBefore = cpu();
const stalls = monitorEventLoopDelay({ resolution: 1 });
const startedAt = performance.now();
stalls.enable();

const informer = new SharedIndexInformer(new ListWatch(rest, type, { namespace: text('ns') }), {
  expected: type,
  storage: text('storage') === 'compact' ? 'compact' : 'objects',
});
const wanted = Number(text('updates'));
const latencies: number[] = [];
let first = 0;
let last = 0;
let reached: () => void = () => {};
const done = new Promise<void>((resolve) => {
  reached = resolve;
});
informer.handle((event) => {
  if (event.type !== 'updated') return;
  last = nowNs();
  first ||= last;
  const stamp = isPod ? event.object.metadata.annotations?.['t'] : event.object.data?.['t'];
  latencies.push((last - Number(stamp)) / 1e6);
  if (latencies.length === wanted) reached();
});
informer.start();
await informer.whenSynced();
const syncMs = performance.now() - startedAt;
const syncCpu = cpu() - cpuBefore;
stalls.disable();
const peak = rss('VmHWM');
const objects = informer.store.size;
collect?.();
await new Promise((resolve) => setTimeout(resolve, 100));
collect?.();
const heap = process.memoryUsage().heapUsed;
const figures: Record<string, unknown> = {
  bench: 'informer',
  client: 'kube-rx',
  tag: text('tag'),
  kind: text('kind'),
  objects,
  sync_ms: digits(syncMs),
  sync_cpu_s: digits(syncCpu),
  peak_rss_mib: digits(peak),
  rss_mib: digits(rss('VmRSS')),
  rss_before_mib: digits(rssBefore),
  heap_mib: digits(heap / 2 ** 20),
  heap_bytes_per_object: digits((heap - heapBefore) / Math.max(objects, 1)),
  stall_ms: digits(stalls.max / 1e6),
};
if (text('ready-file') !== '') writeFileSync(text('ready-file'), '');
if (wanted > 0) {
  const cpuAtStart = cpu();
  await Promise.race([done, new Promise((resolve) => setTimeout(resolve, Number(text('wait')) * 1_000).unref())]);
  Object.assign(figures, {
    events: latencies.length,
    events_per_s: digits(latencies.length / ((last - first) / 1e9)),
    burst_cpu_s: digits(cpu() - cpuAtStart),
    event_p50_ms: digits(quantile(latencies, 0.5)),
    event_p99_ms: digits(quantile(latencies, 0.99)),
    event_max_ms: digits(quantile(latencies, 1)),
  });
}
process.stdout.write(`${JSON.stringify(figures)}\n`, () => process.exit(0));
