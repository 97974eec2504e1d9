// Updates as fast as they go, counted where they arrive, with the time from write to delivery.
import { median } from '../figures.ts';
import { BIG_NAMESPACE, inParallel, objectName } from '../load.ts';
import type { RawClient, RawWatch } from '../raw-client.ts';
import { type Measure, waitUntil } from './measure.ts';

const UPDATES = 3_000;
const WRITERS = 16;
const PATH = `/api/v1/namespaces/${BIG_NAMESPACE}/configmaps`;

/** A watch that goes on where it was when the server cuts it off for being slow, as a client would. */
class SteadyWatch {
  count = 0;
  cuts = 0;
  readonly #client: RawClient;
  readonly #onFrame: (text: string) => void;
  #resourceVersion: string;
  #watch: RawWatch | undefined;
  #opening: Promise<void> | undefined;

  constructor(client: RawClient, resourceVersion: string, onFrame: (text: string) => void) {
    this.#client = client;
    this.#onFrame = onFrame;
    this.#resourceVersion = resourceVersion;
  }

  async open(): Promise<void> {
    const path = `${PATH}?watch=1&resourceVersion=${this.#resourceVersion}`;
    this.#watch = await this.#client.watch(path, (frame) => {
      const text = frame.toString('latin1');
      this.#resourceVersion = /"resourceVersion":"(\d+)"/.exec(text)?.[1] ?? this.#resourceVersion;
      this.count++;
      this.#onFrame(text);
    });
  }

  /** To be called now and then; calls at the same time share one opening. */
  async keepOpen(): Promise<void> {
    if (!this.#watch?.ended) return;
    if (this.#opening === undefined) {
      this.cuts++;
      this.#opening = this.open().finally(() => {
        this.#opening = undefined;
      });
    }
    await this.#opening;
  }

  close(): void {
    this.#watch?.close();
  }
}

export const updates: Measure = {
  name: 'updates',
  async run({ client, objects, log }) {
    const list = JSON.parse((await client.call('GET', `${PATH}?limit=1`)).toString('utf8')) as {
      metadata: { resourceVersion: string };
    };
    const sentAt: number[] = [];
    const latencies: number[] = [];
    const watch = new SteadyWatch(client, list.metadata.resourceVersion, (text) => {
      const index = /"stamp":"u(\d+)"/.exec(text)?.[1];
      if (index !== undefined) latencies.push(performance.now() - sentAt[Number(index)]!);
    });
    await watch.open();
    try {
      const startedAt = performance.now();
      await inParallel(0, UPDATES, WRITERS, async (index) => {
        sentAt[index] = performance.now();
        await client.call('PATCH', `${PATH}/${objectName(index % objects)}`, { data: { stamp: `u${index}` } });
        await watch.keepOpen();
      });
      await watch.keepOpen();
      await waitUntil(() => watch.count >= UPDATES, 30_000, 'events of all updates');
      if (watch.cuts > 0) log(`the watcher was cut off ${watch.cuts} times for being slow`);
      return {
        updates: UPDATES / ((performance.now() - startedAt) / 1_000),
        'updates-latency': median(latencies),
      };
    } finally {
      watch.close();
    }
  },
};
