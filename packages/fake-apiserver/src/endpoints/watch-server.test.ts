import { VirtualClock } from '@kube-rx/apimachinery';
import { describe, expect, it } from 'vitest';
import type { StorageWatch, StorageWatchEvent } from '../storage/interfaces.ts';
import { StoredObject } from '../storage/stored-object.ts';
import type { WireFrame } from './http.ts';
import { PlainJsonEncoder } from './object-encoder.ts';
import { Shutdown } from './shutdown.ts';
import { serveWatch } from './watch-server.ts';

class FakeWatch implements StorageWatch {
  readonly #events: StorageWatchEvent[] = [];
  #listener: () => void = () => {};
  #ended = false;
  stopped = false;

  get done(): boolean {
    return this.#ended && this.#events.length === 0;
  }
  next(): StorageWatchEvent | undefined {
    return this.#events.shift();
  }
  onReadable(listener: () => void): void {
    this.#listener = listener;
  }
  stop(): void {
    this.stopped = true;
  }
  push(...events: StorageWatchEvent[]): void {
    this.#events.push(...events);
    this.#listener();
  }
  end(): void {
    this.#ended = true;
    this.#listener();
  }
  get waiting(): number {
    return this.#events.length;
  }
}

function added(name: string): StorageWatchEvent {
  const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, resourceVersion: '7' } };
  return { type: 'ADDED', object: new StoredObject(`/registry/configmaps/${name}`, object, 7) };
}

function setUp(room = Number.POSITIVE_INFINITY) {
  const clock = new VirtualClock();
  const watch = new FakeWatch();
  const client = new AbortController();
  const shutdown = new Shutdown();
  const frames: string[] = [];
  const errors: unknown[] = [];
  let left = room;
  let drain: () => void = () => {};
  let ends = 0;
  const finished = serveWatch({
    watch,
    clock,
    timeoutMs: 5_000,
    encoder: new PlainJsonEncoder(false),
    signal: client.signal,
    shutdown,
    onError: (error) => errors.push(error),
    sink: {
      write(frame: WireFrame) {
        frames.push(frame.bytes.toString());
        left -= 1;
        return left > 0;
      },
      onDrain: (listener) => {
        drain = listener;
      },
      end: () => {
        ends += 1;
      },
    },
  });
  const makeRoom = (more: number): void => {
    left = more;
    drain();
  };
  const end = { client: () => client.abort(), server: () => shutdown.begin() };
  return { clock, watch, end, shutdown, frames, errors, finished, makeRoom, ends: () => ends };
}

describe('serveWatch', () => {
  it('writes waiting events at once and later ones as they come', () => {
    const { watch, frames } = setUp();
    watch.push(added('a'));
    watch.push(added('b'), added('c'));
    expect(frames).toHaveLength(3);
    expect(frames[0]).toBe(
      '{"type":"ADDED","object":{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"a","resourceVersion":"7"}}}\n',
    );
  });

  it('leaves events in the watch while the client does not keep up', () => {
    const { watch, frames, makeRoom } = setUp(1);
    watch.push(added('a'), added('b'), added('c'));
    expect(frames).toHaveLength(1);
    expect(watch.waiting).toBe(2);
    makeRoom(5);
    expect(frames).toHaveLength(3);
  });

  it('ends cleanly at its deadline, and not before', async () => {
    const { clock, watch, finished, ends } = setUp();
    clock.advanceSync(4_999);
    expect(ends()).toBe(0);
    clock.advanceSync(1);
    await finished;
    expect(ends()).toBe(1);
    expect(watch.stopped).toBe(true);
  });

  it('writes an ERROR as the last frame', async () => {
    const { watch, frames, finished } = setUp();
    const status = { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Failure', code: 410 } as const;
    watch.push({ type: 'ERROR', status }, added('never'));
    await finished;
    expect(frames).toEqual([`{"type":"ERROR","object":${JSON.stringify(status)}}\n`]);
  });

  it.each(['client', 'server'] as const)('ends when the %s goes away and leaves no timer behind', async (side) => {
    const setup = setUp();
    setup.end[side]();
    await setup.finished;
    expect(setup.watch.stopped).toBe(true);
    expect(setup.clock.pendingTimers).toBe(0);
    expect(setup.shutdown.size).toBe(0);
  });

  it('sends what is left before it ends with its watch', async () => {
    const { watch, frames, finished, makeRoom } = setUp(1);
    watch.push(added('a'), added('b'));
    watch.end();
    expect(frames).toHaveLength(1);
    makeRoom(5);
    await finished;
    expect(frames).toHaveLength(2);
  });

  it('ends without an ERROR when an object cannot be encoded', async () => {
    const { watch, frames, errors, finished } = setUp();
    const circular: Record<string, unknown> = {};
    circular['self'] = circular;
    const object = { apiVersion: 'v1', kind: 'X', metadata: {}, circular };
    watch.push({ type: 'ADDED', object: new StoredObject('/k', object, 1) });
    await finished;
    expect(frames).toEqual([]);
    expect(errors).toHaveLength(1);
  });
});
