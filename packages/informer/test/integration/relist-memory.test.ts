// A list of everything that is there already must not need everything twice.
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { settle, VirtualClock } from '@kube-rx/apimachinery';
import { describe, expect, it } from 'vitest';
import { ListWatch } from '../../src/rest/list-watch.ts';
import type { Live } from '../../src/rest/resource-type.ts';
import { RestClient } from '../../src/rest/rest-client.ts';
import type { Transport } from '../../src/rest/transport.ts';
import type { SharedIndexInformerOptions } from '../../src/shared-informer/informer-options.ts';
import { SharedIndexInformer } from '../../src/shared-informer/shared-index-informer.ts';
import { FlowingBody } from '../support/flowing-body.ts';
import { type ConfigMap, ConfigMaps } from '../support/memory-api.ts';
import { MemoryBody } from '../support/memory-body.ts';

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;
const liveHeap = (): number => {
  collectGarbage();
  return process.memoryUsage().heapUsed;
};

const OBJECTS = 20_000;
const PER_CHUNK = 100;

/** One list, made as it is read: the server's side costs no memory. `change` is what differs from the list before. */
class ListBody extends FlowingBody {
  readonly #text: (index: number) => string;
  readonly #onChunk: () => void;
  #next = 0;

  constructor(change: string, onChunk: () => void) {
    super();
    this.#text = (index) =>
      JSON.stringify({
        metadata: {
          name: `o${index}`,
          namespace: 'shop',
          uid: `uid-${index}`,
          resourceVersion: `${index + 1}${change}`,
          labels: { app: `a${index % 50}` },
        },
        data: { text: `${'x'.repeat(200)}${index}${change}` },
      });
    this.#onChunk = onChunk;
  }

  protected turn(): void {
    const { sink } = this;
    if (sink === undefined) return;
    const items: string[] = [];
    const first = this.#next === 0;
    while (items.length < PER_CHUNK) items.push(this.#text(this.#next++));
    const last = this.#next === OBJECTS;
    const head = first
      ? '{"kind":"ConfigMapList","apiVersion":"v1","metadata":{"resourceVersion":"99"},"items":['
      : ',';
    sink.data(Buffer.from(`${head}${items.join(',')}${last ? ']}' : ''}`));
    this.#onChunk();
    if (last) sink.end();
    else this.later();
  }
}

/** Highest live heap while everything is listed again, as a multiple of the live heap before. */
async function relist(change: string, options: SharedIndexInformerOptions<ConfigMap> = {}): Promise<number> {
  const clock = new VirtualClock();
  const bodies: MemoryBody[] = [];
  let peak = 0;
  let lists = 0;
  const transport: Transport = {
    async send({ url }) {
      const headers = { 'content-type': 'application/json' };
      if (url.includes('watch=true')) {
        bodies.push(new MemoryBody());
        return { status: 200, headers, body: bodies.at(-1)! };
      }
      let chunks = 0;
      const again = lists++ > 0;
      const look = (): void => {
        if (again && ++chunks % 20 === 0) peak = Math.max(peak, liveHeap());
      };
      return { status: 200, headers, body: new ListBody(again ? change : '', look) };
    },
    close() {},
  };
  const before = liveHeap();
  const rest = new RestClient({ server: 'http://memory.test', transport, clock });
  await using informer = new SharedIndexInformer<ConfigMap>(new ListWatch<ConfigMap>(rest, ConfigMaps), {
    clock,
    random: () => 0,
    initial: 'list',
    expected: ConfigMaps,
    ...options,
  });
  let listed = 0;
  informer.events$.subscribe((event) => {
    if (event.type === 'synced') listed++;
  });
  informer.start();
  await informer.whenSynced();
  await settle();
  const steady = liveHeap() - before;
  bodies[0]!.write('{"type":"ERROR","object":{"kind":"Status","apiVersion":"v1","code":410,"reason":"Expired"}}\n');
  await settle();
  await clock.advance(5000);
  for (let turn = 0; turn < 100_000 && listed < 2; turn++) await new Promise((resolve) => setImmediate(resolve));
  expect([lists, listed, informer.store.size]).toEqual([2, 2, OBJECTS]);
  peak = Math.max(peak, liveHeap());
  return (peak - before) / steady;
}

describe('the live heap during a list of everything', () => {
  it('stays within 1.3 times of what it was when nothing has changed', async () => {
    expect(await relist('')).toBeLessThan(1.3);
  });

  it('stays within them with a transform too, which is done as objects arrive', async () => {
    const transform = ({ data, ...object }: Live<ConfigMap>): Live<ConfigMap> =>
      ({ ...object, data: { text: data?.['text']?.slice(0, 20) ?? '' } }) as Live<ConfigMap>;
    expect(await relist('', { transform })).toBeLessThan(1.3);
  });

  it('holds what changed twice for a while, and nothing three times', async () => {
    const peak = await relist('7');
    expect(peak).toBeGreaterThan(1.5);
    expect(peak).toBeLessThan(2.3);
  });
});
