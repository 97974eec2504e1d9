// Updates as fast as they go, counted where they arrive.
import { BIG_NAMESPACE, inParallel, objectName } from '../load.ts';
import { type Measure, waitUntil } from './measure.ts';

const UPDATES = 3_000;
const WRITERS = 16;

export const updates: Measure = {
  name: 'updates',
  async run({ client, objects }) {
    const path = `/api/v1/namespaces/${BIG_NAMESPACE}/configmaps`;
    const list = JSON.parse((await client.call('GET', `${path}?limit=1`)).toString('utf8')) as {
      metadata: { resourceVersion: string };
    };
    const watch = await client.watch(`${path}?watch=1&resourceVersion=${list.metadata.resourceVersion}`);
    try {
      const startedAt = performance.now();
      await inParallel(0, UPDATES, WRITERS, async (index) => {
        await client.call('PATCH', `${path}/${objectName(index % objects)}`, { data: { stamp: `u${index}` } });
      });
      await waitUntil(() => watch.count >= UPDATES, 30_000, 'events of all updates');
      return { updates: UPDATES / ((performance.now() - startedAt) / 1_000) };
    } finally {
      watch.close();
    }
  },
};
