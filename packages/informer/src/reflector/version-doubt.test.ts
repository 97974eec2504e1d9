import { newTooLargeResourceVersion, settle, VirtualClock } from '@kube-rx/apimachinery';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { list, ScriptedListerWatcher, type TestObject } from '../../test/support/scripted-lister-watcher.ts';
import { TransportError } from '../errors.ts';
import { IndexedStore } from '../store/indexed-store.ts';
import { Reflector } from './reflector.ts';
import type { ReflectorOptions } from './reflector-options.ts';

describe('a reflector that goes on from a version after a lost stream', () => {
  const reset = new TransportError('RESET', 'reset');
  let clock: VirtualClock;
  let server: ScriptedListerWatcher;
  let store: IndexedStore<TestObject>;
  let controller: AbortController;
  let done: Promise<void>;
  beforeEach(() => {
    clock = new VirtualClock();
    server = new ScriptedListerWatcher();
    store = new IndexedStore<TestObject>();
    controller = new AbortController();
  });
  afterEach(async () => {
    controller.abort();
    await done;
    expect([clock.pendingTimers, server.openStreams]).toEqual([0, 0]);
  });
  async function run(options: ReflectorOptions = {}): Promise<void> {
    const reflector = new Reflector<TestObject>(server, store, { clock, random: () => 0, ...options });
    done = reflector.run({ signal: controller.signal });
    await settle();
  }
  const after = (count: number): readonly string[] => server.requests.slice(count);

  it('asks once whether the server knows it, when the next stream stays silent', async () => {
    server.onList(list('10'));
    await run();
    await clock.advance(200_000);
    server.stream.end(reset);
    await clock.advance(89_999);
    expect(after(2)).toEqual(['WATCH rv=10']);
    await clock.advance(1);
    expect(after(3)).toEqual(['PROBE rv=10']);
    await clock.advance(210_000);
    server.stream.end();
    await clock.advance(200_000);
    expect(after(4)).toEqual(['WATCH rv=10']);
  });

  it('lists again when the server does not know it, as after a restore from a backup', async () => {
    server.onList(list('10', 'a@9'), newTooLargeResourceVersion('10', '5', 1), list('6', 'b@4'));
    await run();
    server.probeError = newTooLargeResourceVersion('10', '5', 1);
    await clock.advance(200_000);
    server.stream.end(reset);
    await clock.advance(95_000);
    expect(after(2)).toEqual(['WATCH rv=10', 'PROBE rv=10', 'LIST rv=10', 'LIST rv= limit=500', 'WATCH rv=6']);
    expect(store.list().map(({ metadata }) => metadata.name)).toEqual(['b']);
  });

  it.each(['refused', 'ended early', 'fell silent'])('is in doubt also when the stream %s', async (how) => {
    server.onList(list('10'));
    if (how === 'refused') server.onWatch(new TransportError('REFUSED', 'refused'));
    await run();
    if (how === 'ended early') server.stream.end();
    if (how === 'fell silent') await clock.advance(330_000);
    await clock.advance(100_000);
    expect(after(1)).toEqual(['WATCH rv=10', 'WATCH rv=10', 'PROBE rv=10']);
  });

  it('asks nothing after a stream that the server ended in its time', async () => {
    server.onList(list('10'));
    await run();
    await clock.advance(300_000);
    server.stream.end();
    await clock.advance(200_000);
    expect(after(1)).toEqual(['WATCH rv=10', 'WATCH rv=10']);
  });

  it('asks nothing when something came, nor when the question fails in another way a second time on one stream', async () => {
    server.onList(list('10'));
    await run();
    server.stream.end(reset);
    await settle();
    server.stream.send('BOOKMARK 12');
    await clock.advance(100_000);
    expect(after(2)).toEqual(['WATCH rv=10']);
    server.probeError = new TransportError('REFUSED', 'refused');
    server.stream.end(reset);
    await clock.advance(250_000);
    expect(after(3)).toEqual(['WATCH rv=12', 'PROBE rv=12']);
  });

  it('asks nothing in the profile of client-go', async () => {
    server.onList(list('10'));
    await run({ profile: 'client-go-1.30' });
    await clock.advance(10_000);
    server.stream.end(reset);
    await clock.advance(280_000);
    expect(after(1)).toEqual(['WATCH rv=10', 'WATCH rv=10']);
  });
});
