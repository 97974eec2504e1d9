// LIST from the cache, and how it grows with the number of objects.
import { median } from '../figures.ts';
import { BIG_NAMESPACE } from '../load.ts';
import type { Measure, MeasureContext } from './measure.ts';

const RUNS = 5;
const WARM_UP = 2;

async function listMs({ client }: MeasureContext, limit?: number): Promise<number> {
  const query = limit === undefined ? 'resourceVersion=0' : `resourceVersion=&limit=${limit}`;
  const path = `/api/v1/namespaces/${BIG_NAMESPACE}/configmaps?${query}`;
  const samples: number[] = [];
  for (let run = 0; run < RUNS + WARM_UP; run++) {
    const startedAt = performance.now();
    await client.drain(path);
    if (run >= WARM_UP) samples.push(performance.now() - startedAt);
  }
  return median(samples);
}

export const list: Measure = {
  name: 'LIST',
  async run(context) {
    const whole = await listMs(context);
    // A limit goes past the cache of 1.30, so both sides of this comparison do.
    const half = await listMs(context, Math.floor(context.objects / 2));
    const full = await listMs(context, context.objects);
    return { list: whole, growth: full / half };
  },
};
