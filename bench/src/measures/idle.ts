// What a watcher costs that has nothing to do.
import { createNamespace, inParallel } from '../load.ts';
import { memoryKib } from '../process-use.ts';
import type { RawWatch } from '../raw-client.ts';
import { type Measure, pause } from './measure.ts';

const NAMESPACE = 'bench-idle';
const SETTLE_MS = 1_500;

export const idle: Measure = {
  name: 'idle watchers',
  async run({ client, target, watchers: count }) {
    const { pid } = target;
    if (pid === undefined) return {};
    await createNamespace(client, NAMESPACE);
    // Grown buffers of earlier measures would hide the watchers.
    await pause(SETTLE_MS);
    const before = memoryKib(pid, 'VmRSS');
    const watches: RawWatch[] = [];
    await inParallel(0, count, 50, async () => {
      watches.push(await client.watch(`/api/v1/namespaces/${NAMESPACE}/configmaps?watch=1&resourceVersion=0`));
    });
    await pause(SETTLE_MS);
    const after = memoryKib(pid, 'VmRSS');
    for (const watch of watches) watch.close();
    return {
      'idle-watcher': before === undefined || after === undefined ? undefined : Math.max(after - before, 0) / count,
    };
  },
};
