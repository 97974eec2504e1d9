// One namespace, many watchers: a burst as fast as it goes, and a steady trickle.
import { quantile } from '../figures.ts';
import { configMap, createNamespace, inParallel } from '../load.ts';
import { cpuSeconds } from '../process-use.ts';
import type { RawWatch } from '../raw-client.ts';
import { type Measure, type MeasureContext, pause, waitUntil } from './measure.ts';

const NAMESPACE = 'bench-fan-out';
const BURST = 100;
const WRITERS = 8;
const RATE_PER_SECOND = 20;
const TRICKLE_SECONDS = 5;
const SAMPLED_WATCHERS = 20;

export const fanOut: Measure = {
  name: 'fan-out',
  async run(context) {
    const { client, watchers: count, log } = context;
    await createNamespace(client, NAMESPACE);
    const path = `/api/v1/namespaces/${NAMESPACE}/configmaps`;
    await client.call('POST', path, configMap(NAMESPACE, 'target', '0'), [409]);
    const latencies: number[] = [];
    let wanted = false;
    const onFrame = (frame: Buffer): void => {
      if (wanted) latencies.push(performance.now() - stampOf(frame));
    };
    const query = `${path}?watch=1&resourceVersion=0&allowWatchBookmarks=false`;
    const watches: RawWatch[] = [];
    await inParallel(0, count, 50, async (index) => {
      watches.push(await client.watch(query, index < SAMPLED_WATCHERS ? onFrame : undefined));
    });
    try {
      await waitUntil(() => watches.every((watch) => watch.count >= 1), 30_000, 'initial events of all watchers');
      const perSecond = await burst(context, path, watches);
      const cutOff = watches.filter((watch) => watch.ended).length;
      if (cutOff > 0) log(`${cutOff} of ${count} watchers were cut off in the burst`);
      wanted = true;
      const cpu = await trickle(context, path);
      return { 'fan-out': perSecond, 'fan-out-latency': quantile(latencies, 0.5), 'fan-out-cpu': cpu };
    } finally {
      for (const watch of watches) watch.close();
    }
  },
};

async function burst({ client }: MeasureContext, path: string, watches: readonly RawWatch[]): Promise<number> {
  const before = total(watches);
  const startedAt = performance.now();
  await inParallel(0, BURST, WRITERS, async (index) => {
    await client.call('PATCH', `${path}/target`, { data: { stamp: String(index) } });
  });
  const wantedTotal = before + BURST * watches.length;
  const live = (): boolean => total(watches) >= wantedTotal || watches.every((watch) => watch.ended);
  let last = -1;
  // Watchers that were cut off never get there: done when nothing more comes.
  while (!live() && total(watches) !== last) {
    last = total(watches);
    await pause(200);
  }
  return (total(watches) - before) / ((performance.now() - startedAt) / 1_000);
}

/** Server CPU in seconds per 10 s. */
async function trickle({ client, target }: MeasureContext, path: string): Promise<number | undefined> {
  const cpuBefore = target.pid === undefined ? undefined : cpuSeconds(target.pid);
  const startedAt = performance.now();
  for (let write = 0; write < RATE_PER_SECOND * TRICKLE_SECONDS; write++) {
    const dueAt = startedAt + (write * 1_000) / RATE_PER_SECOND;
    await pause(Math.max(dueAt - performance.now(), 0));
    await client.call('PATCH', `${path}/target`, { data: { stamp: String(performance.now()) } });
  }
  await pause(200);
  const cpuAfter = target.pid === undefined ? undefined : cpuSeconds(target.pid);
  return cpuBefore === undefined || cpuAfter === undefined
    ? undefined
    : ((cpuAfter - cpuBefore) * 10) / TRICKLE_SECONDS;
}

function total(watches: readonly RawWatch[]): number {
  return watches.reduce((sum, watch) => sum + watch.count, 0);
}

function stampOf(frame: Buffer): number {
  return Number(/"stamp":"([0-9.]+)"/.exec(frame.toString('latin1'))?.[1]);
}
