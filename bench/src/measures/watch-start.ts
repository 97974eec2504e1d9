// A watch from rv=0 that wants little among much.
import { median } from '../figures.ts';
import { BIG_NAMESPACE, objectName, SMALL_NAMESPACE } from '../load.ts';
import { type Measure, type MeasureContext, waitUntil } from './measure.ts';

const RUNS = 15;
export const SMALL_COUNT = 20;

async function startMs({ client }: MeasureContext, path: string, events: number): Promise<number> {
  const samples: number[] = [];
  for (let run = 0; run < RUNS; run++) {
    const startedAt = performance.now();
    const watch = await client.watch(path);
    await waitUntil(() => watch.count >= events, 30_000, 'initial events');
    samples.push(performance.now() - startedAt);
    watch.close();
  }
  return median(samples);
}

export const watchStart: Measure = {
  name: 'watch from rv=0',
  async run(context) {
    const namespace = `/api/v1/namespaces/${SMALL_NAMESPACE}/configmaps?watch=1&resourceVersion=0`;
    const selector = encodeURIComponent(`metadata.name=${objectName(Math.floor(context.objects / 2))}`);
    const name = `/api/v1/namespaces/${BIG_NAMESPACE}/configmaps?watch=1&resourceVersion=0&fieldSelector=${selector}`;
    return {
      'watch-namespace': await startMs(context, namespace, SMALL_COUNT),
      'watch-name': await startMs(context, name, 1),
    };
  },
};
