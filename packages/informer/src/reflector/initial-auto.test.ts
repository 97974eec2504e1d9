import { settle, VirtualClock } from '@kube-rx/apimachinery';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  errorEvent,
  list,
  ScriptedListerWatcher,
  type TestObject,
} from '../../test/support/scripted-lister-watcher.ts';
import type { WatchListSupport } from '../rest/watch-list-support.ts';
import { IndexedStore } from '../store/indexed-store.ts';
import { Reflector } from './reflector.ts';
import type { ReflectorOptions } from './reflector-options.ts';

describe('initial: auto', () => {
  let clock: VirtualClock;
  let server: ScriptedListerWatcher;
  let store: IndexedStore<TestObject>;
  let controller: AbortController;
  let done: Promise<void>;

  class Support implements WatchListSupport {
    readonly log: string[] = [];
    answer: boolean | undefined;
    #asked: ((supported: boolean) => void)[] = [];
    known(): boolean | undefined {
      return this.answer;
    }
    ask(): Promise<boolean> {
      this.log.push('ask');
      return new Promise((resolve) => this.#asked.push(resolve));
    }
    worked(): void {
      this.log.push('worked');
    }
    failed(untilMs: number): void {
      this.log.push(`failed until +${untilMs - clock.now()}`);
    }
    say(supported: boolean): Promise<void> {
      for (const each of this.#asked.splice(0)) each(supported);
      return settle();
    }
  }
  let support: Support;
  beforeEach(() => {
    clock = new VirtualClock();
    server = new ScriptedListerWatcher();
    store = new IndexedStore<TestObject>();
    controller = new AbortController();
    support = new Support();
    server.watchListSupport = support;
    server.onList(list('10', 'a@5'));
  });

  afterEach(async () => {
    controller.abort();
    await done;
    expect(clock.pendingTimers).toBe(0);
    expect(server.openStreams).toBe(0);
  });

  async function run(options: ReflectorOptions = {}): Promise<void> {
    const reflector = new Reflector<TestObject>(server, store, { clock, random: () => 0, ...options });
    done = reflector.run({ signal: controller.signal });
    await settle();
  }
  const keys = () => store.list().map((each) => `${each.metadata.name}@${each.metadata.resourceVersion}`);

  it('streams from a server that can, and says that it worked', async () => {
    await run();
    expect(server.requests).toEqual([]);
    await support.say(true);
    expect(server.requests).toEqual(['WATCHLIST rv=']);
    server.stream.send('ADDED a@5', 'BOOKMARK 10 end');
    expect(keys()).toEqual(['a@5']);
    expect(support.log).toEqual(['ask', 'worked']);
  });

  it('asks nothing when the answer is known', async () => {
    support.answer = true;
    await run();
    expect(server.requests).toEqual(['WATCHLIST rv=']);
    expect(support.log).toEqual([]);
  });

  it('lists from a server that cannot', async () => {
    await run();
    await support.say(false);
    expect(server.requests).toEqual(['LIST rv=0 limit=500', 'WATCH rv=10']);
  });

  it('waits no longer than a second for the answer; one that comes too late counts next time', async () => {
    await run();
    await clock.advance(999);
    expect(server.requests).toEqual([]);
    await clock.advance(1);
    expect(server.requests).toEqual(['LIST rv=0 limit=500', 'WATCH rv=10']);
    await support.say(true);
    expect(server.requests).toHaveLength(2);
    support.answer = true;
    server.stream.send(errorEvent(410, 'Expired'));
    await clock.advance(800);
    expect(server.requests.at(-1)).toBe('WATCHLIST rv=10');
  });

  it('falls back like any streaming list, and remembers it for the resource', async () => {
    support.answer = true;
    await run();
    await clock.advance(10_000);
    expect(server.requests).toEqual(['WATCHLIST rv=', 'LIST rv=0 limit=500', 'WATCH rv=10']);
    expect(support.log).toEqual(['failed until +600000']);
    expect(keys()).toEqual(['a@5']);
  });

  it('can be stopped while it asks', async () => {
    await run();
    controller.abort();
    await done;
    expect(clock.pendingTimers).toBe(0);
    await support.say(true);
    expect(server.requests).toEqual([]);
  });

  it('lists in the profile client-go-1.30, without a question', async () => {
    support.answer = true;
    await run({ profile: 'client-go-1.30' });
    expect(server.requests[0]).toBe('LIST rv=0 limit=500');
    expect(support.log).toEqual([]);
  });
});
