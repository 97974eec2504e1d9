// A first list of fifty thousand objects must leave the event loop free for whoever else lives in the process.
import { describe, expect, it } from 'vitest';
import { ListWatch } from '../../src/rest/list-watch.ts';
import { RestClient } from '../../src/rest/rest-client.ts';
import type { Transport } from '../../src/rest/transport.ts';
import { SharedIndexInformer } from '../../src/shared-informer/shared-index-informer.ts';
import { FlowingBody } from '../support/flowing-body.ts';
import { type ConfigMap, ConfigMaps } from '../support/memory-api.ts';
import { MemoryBody } from '../support/memory-body.ts';

const OBJECTS = 50_000;
const CHUNK_BYTES = 64 * 1024;

function listBytes(): Buffer {
  const items = Array.from({ length: OBJECTS }, (_, index) =>
    JSON.stringify({
      metadata: {
        name: `o${index}`,
        namespace: `ns${index % 50}`,
        uid: `uid-${index}`,
        resourceVersion: `${index + 1}`,
        labels: { app: `a${index % 100}`, tier: 'web' },
      },
      data: { text: 'x'.repeat(300), index: `${index}` },
    }),
  );
  const head = '{"kind":"ConfigMapList","apiVersion":"v1","metadata":{"resourceVersion":"60000"},"items":[';
  return Buffer.from(`${head}${items.join(',')}]}`);
}

class Bytes extends FlowingBody {
  readonly #bytes: Buffer;
  #at = 0;

  constructor(bytes: Buffer) {
    super();
    this.#bytes = bytes;
  }
  protected turn(): void {
    for (let sink = this.sink; sink !== undefined && this.#at < this.#bytes.length; sink = this.sink) {
      const start = this.#at;
      this.#at += CHUNK_BYTES;
      sink.data(this.#bytes.subarray(start, this.#at));
    }
    if (this.#at >= this.#bytes.length) this.sink?.end();
  }
}

/**
 * How long the loop was held, turn by turn, in ms. The smaller of wall time and CPU time counts: other processes cost wall time alone,
 * helper threads CPU time alone.
 */
function watchLoop(): { stop(): number[] } {
  const turns: number[] = [];
  let running = true;
  let wall = performance.now();
  let cpu = process.cpuUsage();
  const look = (): void => {
    const used = process.cpuUsage(cpu);
    turns.push(Math.min(performance.now() - wall, (used.user + used.system) / 1000));
    wall = performance.now();
    cpu = process.cpuUsage();
    if (running) setImmediate(look);
  };
  setImmediate(look);
  return {
    stop() {
      running = false;
      return turns.sort((a, b) => a - b);
    },
  };
}

async function sync(bytes: Buffer): Promise<number[]> {
  const transport: Transport = {
    async send({ url }) {
      const body = url.includes('watch=true') ? new MemoryBody() : new Bytes(bytes);
      return { status: 200, headers: { 'content-type': 'application/json' }, body };
    },
    close() {},
  };
  const listWatch = new ListWatch<ConfigMap>(new RestClient({ server: 'http://memory.test', transport }), ConfigMaps);
  await using informer = new SharedIndexInformer<ConfigMap, 'app'>(listWatch, {
    initial: 'list',
    expected: ConfigMaps,
    indexers: { app: (each) => [each.metadata.labels?.['app'] ?? ''] },
  });
  let told = 0;
  // A handler that works a little, as they do.
  const onAdd = (object: ConfigMap): void => {
    if (JSON.stringify(object).length > 0) told++;
  };
  const registration = informer.handle({ onAdd });
  const loop = watchLoop();
  informer.start();
  while (!registration.hasSynced) await new Promise((resolve) => setTimeout(resolve, 5));
  const turns = loop.stop();
  expect([told, informer.store.by('app', 'a7').length]).toEqual([OBJECTS, OBJECTS / 100]);
  return turns;
}

describe('a list of 50,000 objects', () => {
  it('holds the event loop for less than 50 ms in 99 of 100 turns, and never for long', async () => {
    const bytes = listBytes();
    const tries: { readonly p99: number; readonly longest: number }[] = [];
    // A collection of garbage may fall into any turn; it does not do so every time.
    const good = (): boolean => tries.some(({ p99, longest }) => p99 < 50 && longest < 100);
    for (let count = 0; count < 3 && !good(); count++) {
      const turns = await sync(bytes);
      expect(turns.length).toBeGreaterThan(30);
      tries.push({ p99: turns[Math.floor(turns.length * 0.99)]!, longest: turns.at(-1)! });
    }
    expect(tries).toSatisfy(good);
  }, 60_000);
});
