// The informer of @kubernetes/client-node, measured as informer-program.ts measures ours. Copied beside an installation of it.
import { readFileSync, writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';

// The library has no switch for a test server without a known authority in all its paths.
process.env.NODE_TLS_REJECT_UNAUTHORIZED = '0';
process.removeAllListeners('warning');
process.on('warning', () => {});
const { values } = parseArgs({
  strict: false,
  options: {
    server: { type: 'string' },
    token: { type: 'string' },
    ns: { type: 'string' },
    updates: { type: 'string', default: '0' },
    'ready-file': { type: 'string', default: '' },
  },
});
const { CoreV1Api, KubeConfig, makeInformer } = await import('@kubernetes/client-node');

const config = new KubeConfig();
config.loadFromOptions({
  clusters: [{ name: 'bench', server: values.server, skipTLSVerify: true }],
  users: [{ name: 'bench', token: values.token }],
  contexts: [{ name: 'bench', cluster: 'bench', user: 'bench' }],
  currentContext: 'bench',
});
const core = config.makeApiClient(CoreV1Api);
const status = (key) =>
  Number(new RegExp(`^${key}:\\s+(\\d+)`, 'm').exec(readFileSync('/proc/self/status', 'utf8'))?.[1] ?? 0) / 1024;
const cpu = () => {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1e6;
};
const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

globalThis.gc?.();
const heapBefore = process.memoryUsage().heapUsed;
const startedAt = performance.now();
let listed;
const list = async () => {
  const answer = await core.listNamespacedConfigMap({ namespace: values.ns });
  listed = answer.items.length;
  return answer;
};
const informer = makeInformer(config, `/api/v1/namespaces/${values.ns}/configmaps`, list);
const wanted = Number(values.updates);
let events = 0;
let synced = false;
let reached = () => {};
const done = new Promise((resolve) => {
  reached = resolve;
});
informer.on('update', () => {
  if (synced && ++events === wanted) reached();
});
informer.on('error', () => setTimeout(() => informer.start().catch(() => {}), 100));
await informer.start();
while (listed === undefined || informer.list(undefined).length < listed) await pause(1);
synced = true;
const figures = { sync_ms: performance.now() - startedAt, peak_rss_mib: status('VmHWM') };
globalThis.gc?.();
await pause(100);
globalThis.gc?.();
figures.heap_bytes_per_object = (process.memoryUsage().heapUsed - heapBefore) / Math.max(listed, 1);
if (values['ready-file']) writeFileSync(values['ready-file'], '');
if (wanted > 0) {
  const cpuBefore = cpu();
  await Promise.race([done, pause(60_000)]);
  figures.burst_cpu_s = cpu() - cpuBefore;
  figures.events = events;
}
process.stdout.write(`${JSON.stringify(figures)}\n`, () => process.exit(0));
