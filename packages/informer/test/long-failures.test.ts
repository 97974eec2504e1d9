// A day of one failure: the requests stay within bounds, the work stays small, and the informer is well again soon after.
import { newInternalError, newResourceExpired, newTooManyRequests, settle, VirtualClock } from '@kube-rx/apimachinery';
import { describe, expect, it } from 'vitest';
import { TransportError } from '../src/errors.ts';
import type { ListContext, ListerWatcher, ListResult, WatchContext, WatchStream } from '../src/rest/lister-watcher.ts';
import { SharedIndexInformer } from '../src/shared-informer/shared-index-informer.ts';
import { errorEvent, list, type TestObject, TestStream } from './support/scripted-lister-watcher.ts';

const HOUR = 3_600_000;

/** Fails in one way until it is told to be well. */
class FailingServer implements ListerWatcher<TestObject> {
  lists = 0;
  watches = 0;
  well = false;
  stream: TestStream | undefined;
  readonly #list: () => ListResult<TestObject>;
  readonly #watch: (stream: TestStream) => void;

  constructor(failure: { readonly list?: () => never; readonly watch?: (stream: TestStream) => void }) {
    this.#list = failure.list ?? (() => list('5', 'a@5'));
    this.#watch = failure.watch ?? (() => undefined);
  }

  async list(_options: unknown, _context: ListContext): Promise<ListResult<TestObject>> {
    this.lists++;
    return this.well ? list('9', 'a@5', 'b@9') : this.#list();
  }
  async watch(_options: unknown, _context: WatchContext): Promise<WatchStream<TestObject>> {
    this.watches++;
    this.stream = new TestStream();
    if (!this.well) this.#watch(this.stream);
    return this.stream;
  }
}

const refused = (): never => {
  throw new TransportError('REFUSED', 'refused');
};

describe('24 hours of', () => {
  it.each<[string, number, ConstructorParameters<typeof FailingServer>[0]]>([
    ['refused lists', 2000, { list: refused }],
    [
      'lists that the server fails',
      2000,
      {
        list: () => {
          throw newInternalError('down');
        },
      },
    ],
    [
      'lists that are asked to wait a second',
      2000,
      {
        list: () => {
          throw newTooManyRequests('busy', 1);
        },
      },
    ],
    ['refused watches', 2000, { watch: refused }],
    ['watches that end at once', 12000, { watch: (stream) => stream.end() }],
    [
      'watches that end after one event',
      12000,
      {
        watch: (stream) => {
          stream.send('MODIFIED a@6');
          stream.end();
        },
      },
    ],
    ['watches whose version is gone', 4000, { watch: (stream) => stream.send(errorEvent(410, 'Expired')) }],
    [
      'watches that are refused as gone',
      4000,
      {
        watch: () => {
          throw newResourceExpired('gone');
        },
      },
    ],
    ['watches that fail inside', 4000, { watch: (stream) => stream.send(errorEvent(500, 'InternalError')) }],
    ['half-open connections', 400, {}],
  ])('%s cost at most %d requests, and little work', async (_what, most, failure) => {
    const clock = new VirtualClock();
    const server = new FailingServer(failure);
    const informer = new SharedIndexInformer<TestObject>(server, { clock, random: () => 0.5, initial: 'list' });
    const before = process.cpuUsage();
    informer.start();
    await clock.advance(24 * HOUR);
    const { user, system } = process.cpuUsage(before);
    // Some of it is the compiler's; what grows faster than the number of requests takes minutes.
    expect((user + system) / 1e6).toBeLessThan(2);
    expect(server.lists + server.watches).toBeLessThan(most);
    expect(server.lists + server.watches).toBeGreaterThan(100);
    server.well = true;
    await clock.advance(10 * 60_000);
    server.stream?.send('MODIFIED b@12');
    await settle();
    expect(informer.status.phase).toBe('watching');
    await informer.close();
    expect(clock.pendingTimers).toBe(0);
  });
});
