import type { KubernetesObject, ListOptions, Status, WatchEvent } from '@kube-rx/apimachinery';
import {
  isExpiredOrGone,
  newForbidden,
  newInternalError,
  newResourceExpired,
  newTooManyRequests,
  settle,
  VirtualClock,
} from '@kube-rx/apimachinery';
import { describe, expect, it } from 'vitest';
import { TransportError } from '../errors.ts';
import type { WatchSink, WatchStream } from '../rest/lister-watcher.ts';
import { RetryWatcher, retryWatch } from './retry-watcher.ts';
import { until, untilWithoutRetry } from './until.ts';

type Script = (sink: WatchSink<KubernetesObject>) => void;

/** A server whose n-th watch is the n-th script; an error refuses the connect; the last one is repeated. */
class ScriptedWatches {
  readonly asked: { readonly options: ListOptions; readonly at: number }[] = [];
  readonly #clock: VirtualClock;
  readonly #scripts: readonly (Script | Error)[];
  stopped = 0;

  constructor(clock: VirtualClock, scripts: readonly (Script | Error)[]) {
    this.#clock = clock;
    this.#scripts = scripts;
  }

  async watch(options: ListOptions): Promise<WatchStream<KubernetesObject>> {
    const script = this.#scripts[Math.min(this.asked.length, this.#scripts.length - 1)]!;
    this.asked.push({ options, at: this.#clock.now() - START });
    if (script instanceof Error) throw script;
    return { start: script, pause() {}, resume() {}, stop: () => void this.stopped++ };
  }
}

const START = new VirtualClock().now();
const event = (type: 'ADDED' | 'MODIFIED' | 'DELETED', name: string, resourceVersion: string): WatchEvent => ({
  type,
  object: { metadata: { name, resourceVersion } },
});
const error = (status: Status): WatchEvent => ({ type: 'ERROR', object: status });
const silent: Script = () => {};

function setUp(scripts: readonly (Script | Error)[], options: { onForbidden?: 'end' | 'retry' } = {}) {
  const clock = new VirtualClock();
  const server = new ScriptedWatches(clock, scripts);
  const seen: string[] = [];
  const watcher = new RetryWatcher(server, { resourceVersion: '5', clock, ...options });
  watcher.start({
    next: (each) =>
      seen.push(each.type === 'ERROR' ? `ERROR ${each.object.code}` : `${each.type} ${each.object.metadata?.name}`),
    end: () => seen.push('end'),
  });
  return {
    clock,
    server,
    seen,
    watcher,
    versions: () => server.asked.map(({ options: { resourceVersion } }) => resourceVersion),
  };
}

describe('RetryWatcher', () => {
  it('waits for five minutes at most, however long the server asks for', async () => {
    const { clock, server } = setUp([newTooManyRequests('come back tomorrow', 86_400), silent]);
    await clock.advance(299_999);
    expect(server.asked).toHaveLength(1);
    await clock.advance(1);
    expect(server.asked).toHaveLength(2);
  });

  it('refuses to start from nowhere', () => {
    for (const resourceVersion of ['', '0']) {
      expect(() => new RetryWatcher(new ScriptedWatches(new VirtualClock(), []), { resourceVersion })).toThrow(
        /resourceVersion/,
      );
    }
  });

  it('reconnects at the last event or bookmark, a second after the last connect', async () => {
    const { clock, seen, server, watcher } = setUp([
      (sink) => {
        sink.next(event('ADDED', 'a', '6'));
        sink.end();
      },
      (sink) => {
        sink.next({ type: 'BOOKMARK', object: { metadata: { resourceVersion: '9' } } });
        sink.end(new TransportError('RESET', 'reset'));
      },
      silent,
    ]);
    await clock.advance(5000);
    expect(server.asked).toEqual([
      { options: { resourceVersion: '5', allowWatchBookmarks: true, timeoutSeconds: 300 }, at: 0 },
      { options: { resourceVersion: '6', allowWatchBookmarks: true, timeoutSeconds: 300 }, at: 1000 },
      { options: { resourceVersion: '9', allowWatchBookmarks: true, timeoutSeconds: 300 }, at: 2000 },
    ]);
    expect(seen).toEqual(['ADDED a']);
    watcher.stop();
    expect(clock.pendingTimers).toBe(0);
    expect(server.stopped).toBe(3);
  });

  it('reconnects at once when the last connect is longer ago', async () => {
    let end: () => void = () => {};
    const { clock, server } = setUp([
      (sink) => {
        end = () => sink.end();
      },
      silent,
    ]);
    await clock.advance(30_000);
    end();
    await clock.advance(0);
    expect(server.asked.map(({ at }) => at)).toEqual([0, 30_000]);
  });

  it('repeats a connect that fails in any other way than for good', async () => {
    const { clock, seen, versions, watcher } = setUp([
      new TransportError('REFUSED', 'refused'),
      newInternalError('boom'),
      newTooManyRequests('slow down', 7),
      silent,
    ]);
    await clock.advance(3000);
    expect(versions()).toHaveLength(3);
    await clock.advance(5999);
    expect(versions()).toHaveLength(3);
    await clock.advance(1);
    expect(versions()).toHaveLength(4);
    expect(seen).toEqual([]);
    watcher.stop();
  });

  it('hands on a 410 and ends, whether it comes as an event or refuses the connect', async () => {
    for (const script of [
      newResourceExpired('too old'),
      ((sink) => sink.next(error(newResourceExpired('too old').status))) as Script,
    ]) {
      const { clock, seen, server } = setUp([script]);
      await clock.advance(60_000);
      expect(seen).toEqual(['ERROR 410', 'end']);
      expect(server.asked).toHaveLength(1);
      expect(clock.pendingTimers).toBe(0);
    }
  });

  it('ends when the watch is forbidden, or repeats it when told so', async () => {
    const forbidden = newForbidden({ group: '', resource: 'pods' }, '', 'no');
    const ending = setUp([forbidden]);
    await ending.clock.advance(10_000);
    expect(ending.seen).toEqual(['ERROR 403', 'end']);
    const retrying = setUp([forbidden], { onForbidden: 'retry' });
    await retrying.clock.advance(10_000);
    expect(retrying.seen).toEqual([]);
    expect(retrying.versions().length).toBeGreaterThan(5);
    retrying.watcher.stop();
  });

  it('reconnects after any other ERROR event, when the server says', async () => {
    const { clock, server, seen, watcher } = setUp([
      (sink) => sink.next(error(newTooManyRequests('slow down', 30).status)),
      (sink) => sink.next(error(newInternalError('boom').status)),
      silent,
    ]);
    await clock.advance(60_000);
    expect(server.asked.map(({ at }) => at)).toEqual([0, 30_000, 31_000]);
    expect(seen).toEqual([]);
    watcher.stop();
  });

  it('says 500 and ends when an object has no version to go on from', async () => {
    const { clock, seen } = setUp([(sink) => sink.next({ type: 'ADDED', object: { metadata: { name: 'a' } } })]);
    await clock.advance(0);
    expect(seen).toEqual(['ERROR 500', 'end']);
  });

  it('gives up a connection that neither delivers nor ends, also one that never opens', async () => {
    const clock = new VirtualClock();
    const asked: number[] = [];
    const aborted: boolean[] = [];
    const watcher = new RetryWatcher<KubernetesObject>(
      {
        watch: (_options, { signal }) => {
          asked.push(clock.now() - START);
          const index = aborted.push(false) - 1;
          return new Promise((_resolve, reject) =>
            signal.addEventListener('abort', () => {
              aborted[index] = true;
              reject(signal.reason);
            }),
          );
        },
      },
      { resourceVersion: '5', clock, watchTimeoutMs: 60_000 },
    );
    watcher.start({ next() {}, end() {} });
    await clock.advance(200_000);
    expect(asked).toEqual([0, 90_000, 180_000]);
    expect(aborted).toEqual([true, true, false]);
    watcher.stop();
    expect(aborted).toEqual([true, true, true]);
    expect(clock.pendingTimers).toBe(0);
    const silentOne = setUp([silent]);
    await silentOne.clock.advance(700_000);
    expect(silentOne.server.asked.map(({ at }) => at)).toEqual([0, 330_000, 660_000]);
    silentOne.watcher.stop();
  });

  it('delivers nothing after it was stopped, also from a connect that comes too late', async () => {
    const { clock, seen, watcher, server } = setUp([(sink) => sink.next(event('ADDED', 'a', '6'))]);
    watcher.stop();
    await clock.advance(10_000);
    expect(seen).toEqual([]);
    expect(server.stopped).toBe(1);
  });

  it('pauses the connection of the moment and the ones after', async () => {
    const clock = new VirtualClock();
    const log: string[] = [];
    let end: () => void = () => {};
    const watcher = new RetryWatcher(
      {
        watch: async () => ({
          start: (sink) => {
            end = () => sink.end();
          },
          pause: () => log.push('pause'),
          resume: () => log.push('resume'),
          stop() {},
        }),
      },
      { resourceVersion: '5', clock },
    );
    watcher.start({ next() {}, end() {} });
    await settle();
    watcher.pause();
    end();
    await clock.advance(1000);
    watcher.resume();
    expect(log).toEqual(['pause', 'pause', 'resume']);
    watcher.stop();
  });
});

describe('retryWatch', () => {
  it('is an iterable over all connections that throws the Status that ended it', async () => {
    const clock = new VirtualClock();
    const server = new ScriptedWatches(clock, [
      (sink) => {
        sink.next(event('ADDED', 'a', '6'));
        sink.end();
      },
      (sink) => {
        sink.next(event('MODIFIED', 'a', '7'));
        sink.next(error(newResourceExpired('too old').status));
      },
    ]);
    const seen: string[] = [];
    const reading = (async () => {
      for await (const each of retryWatch(server, { resourceVersion: '5', clock })) seen.push(each.type);
    })();
    const outcome = expect(reading).rejects.toSatisfy(isExpiredOrGone);
    await clock.advance(2000);
    await outcome;
    expect(seen).toEqual(['ADDED', 'MODIFIED']);
  });
});

describe('until', () => {
  const named = (name: string) => (each: { readonly object: KubernetesObject }) => each.object.metadata?.name === name;

  it('meets its conditions in order, and asks the next one about the same event first', async () => {
    const clock = new VirtualClock();
    const server = new ScriptedWatches(clock, [
      (sink) => {
        for (const [index, name] of ['b', 'a', 'b', 'c'].entries()) sink.next(event('ADDED', name, String(6 + index)));
      },
    ]);
    const asked: string[] = [];
    const met = await until(
      server,
      [
        named('a'),
        (each) => {
          asked.push(each.object.metadata?.name ?? '');
          return each.object.metadata?.name === 'c';
        },
      ],
      { resourceVersion: '5', clock },
    );
    expect(met?.object.metadata?.name).toBe('c');
    expect(asked).toEqual(['a', 'b', 'c']);
    expect(clock.pendingTimers).toBe(0);
  });

  it('resolves with nothing when nothing is asked', async () => {
    expect(await until(new ScriptedWatches(new VirtualClock(), []), [], { resourceVersion: '5' })).toBeUndefined();
  });

  it('says how far it got when time is up or the events end', async () => {
    const clock = new VirtualClock();
    const server = new ScriptedWatches(clock, [(sink) => sink.next(event('ADDED', 'a', '6'))]);
    const waiting = until(server, [named('a'), named('b')], { resourceVersion: '5', clock, timeoutMs: 5000 });
    const outcome = expect(waiting).rejects.toMatchObject({ name: 'WaitError', code: 'TIMED_OUT' });
    await clock.advance(5000);
    await outcome;
    expect(clock.pendingTimers).toBe(0);
    async function* two() {
      yield { type: 'ADDED' as const, object: { metadata: { name: 'a' } } };
    }
    await expect(untilWithoutRetry(two, [named('a'), named('b')])).rejects.toThrow('1 of 2');
  });

  it('rejects with what a condition throws and closes the watch', async () => {
    const clock = new VirtualClock();
    const server = new ScriptedWatches(clock, [(sink) => sink.next(event('ADDED', 'a', '6'))]);
    const failing = until(server, [() => Promise.reject(new Error('broken'))], { resourceVersion: '5', clock });
    await expect(failing).rejects.toThrow('broken');
    expect(server.stopped).toBe(1);
  });
});
