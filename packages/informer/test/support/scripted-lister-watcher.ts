// A ListerWatcher whose test says what every request gets, and sees every request as one line.
import type { KubernetesObject, ListOptions, Status, WatchEvent } from '@kube-rx/apimachinery';
import { newStatusError, type StatusReason } from '@kube-rx/apimachinery';
import type {
  ListContext,
  ListerWatcher,
  ListResult,
  WatchContext,
  WatchSink,
  WatchStream,
} from '../../src/rest/lister-watcher.ts';
import type { WatchListSupport } from '../../src/rest/watch-list-support.ts';

export interface TestObject extends KubernetesObject {
  readonly metadata: {
    readonly name: string;
    readonly namespace?: string;
    readonly uid?: string;
    readonly resourceVersion?: string;
    readonly labels?: Readonly<Record<string, string>>;
    readonly annotations?: Readonly<Record<string, string>>;
  };
  readonly data?: Readonly<Record<string, string>>;
}

/** `a@5`, `ns/a@5`, `a@5#2` (second incarnation), as ConfigMaps of namespace default. */
export function object(notation: string): TestObject {
  const match = /^(?:([^/]+)\/)?([^@]+)@([^#]*)(?:#(\w+))?$/.exec(notation);
  if (match === null) throw new Error(`bad notation ${notation}`);
  const [, namespace = 'default', name, resourceVersion, incarnation = '1'] = match;
  return {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: name!, namespace, uid: `${name}-${incarnation}`, resourceVersion: resourceVersion! },
  };
}

export function list(resourceVersion: string, ...items: string[]): ListResult<TestObject> {
  return { items: items.map(object), resourceVersion, continue: '' };
}

export function page(resourceVersion: string, token: string, ...items: string[]): ListResult<TestObject> {
  return { items: items.map(object), resourceVersion, continue: token };
}

/** `ADDED a@5`, `BOOKMARK 9`, `BOOKMARK 9 end`. */
export function event(notation: string): WatchEvent<TestObject> {
  const [type, what, end] = notation.split(' ');
  if (type === 'BOOKMARK') {
    const annotations = end === 'end' ? { annotations: { 'k8s.io/initial-events-end': 'true' } } : {};
    return {
      type,
      object: { apiVersion: 'v1', kind: 'ConfigMap', metadata: { resourceVersion: what!, ...annotations } },
    };
  }
  return { type: type as 'ADDED' | 'MODIFIED' | 'DELETED', object: object(what!) };
}

export function errorEvent(code: number, reason: StatusReason): WatchEvent<TestObject> {
  return { type: 'ERROR', object: newStatusError(code, reason, `test ${code}`).status as Status };
}

/** The server's end of one watch. */
export class TestStream implements WatchStream<TestObject> {
  stopped = false;
  paused = false;
  #sink: WatchSink<TestObject> | undefined;
  #backlog: ((sink: WatchSink<TestObject>) => void)[] = [];

  start(sink: WatchSink<TestObject>): void {
    this.#sink = sink;
    for (const each of this.#backlog.splice(0)) if (!this.stopped) each(sink);
  }
  pause(): void {
    this.paused = true;
  }
  resume(): void {
    this.paused = false;
  }
  stop(): void {
    this.stopped = true;
  }
  send(...events: (string | WatchEvent<TestObject>)[]): void {
    for (const each of events) {
      this.#do((sink) => {
        sink.activity?.(1);
        sink.next(typeof each === 'string' ? event(each) : each);
      });
    }
  }
  /** Bytes that complete no event. */
  trickle(): void {
    this.#do((sink) => sink.activity?.(1));
  }
  end(error?: Error): void {
    this.#do((sink) => sink.end(error));
  }
  #do(run: (sink: WatchSink<TestObject>) => void): void {
    if (this.stopped) return;
    if (this.#sink === undefined) this.#backlog.push(run);
    else run(this.#sink);
  }
}

type ListAnswer = ListResult<TestObject> | Error | Promise<ListResult<TestObject>>;
type WatchAnswer = TestStream | Error | Promise<TestStream>;

/** Lists without a prepared answer get the last one again; watches get a stream that stays open. */
export class ScriptedListerWatcher implements ListerWatcher<TestObject> {
  /** `LIST rv=0 limit=500`, `WATCH rv=10`, `WATCHLIST rv=`, `PROBE rv=10`; timeouts are left out. */
  readonly requests: string[] = [];
  readonly timeouts: number[] = [];
  readonly streams: TestStream[] = [];
  readonly signals: AbortSignal[] = [];
  watchListSupport: WatchListSupport | undefined;
  #lists: ListAnswer[] = [];
  #watches: WatchAnswer[] = [];
  #lastList: ListAnswer = list('1');
  /** What the question gets whether a version is known; undefined says yes. */
  probeError: Error | undefined;

  onList(...answers: ListAnswer[]): this {
    this.#lists.push(...answers);
    return this;
  }
  onWatch(...answers: WatchAnswer[]): this {
    this.#watches.push(...answers);
    return this;
  }
  get stream(): TestStream {
    const last = this.streams.at(-1);
    if (last === undefined) throw new Error('no watch was opened');
    return last;
  }
  get openStreams(): number {
    return this.streams.filter((stream) => !stream.stopped).length;
  }
  get listCount(): number {
    return this.requests.filter((line) => line.startsWith('LIST')).length;
  }

  async list(options: ListOptions, context: ListContext): Promise<ListResult<TestObject>> {
    if (options.limit === 1 && options.resourceVersionMatch === 'NotOlderThan') {
      this.requests.push(`PROBE rv=${options.resourceVersion}`);
      if (this.probeError !== undefined) throw this.probeError;
      return { items: [], resourceVersion: options.resourceVersion ?? '', continue: '' };
    }
    this.requests.push(describe('LIST', options));
    this.signals.push(context.signal);
    const answer = this.#lists.shift() ?? this.#lastList;
    if (!(answer instanceof Error)) this.#lastList = answer;
    const settled = await Promise.race([answer, aborted(context.signal)]);
    if (settled instanceof Error) throw settled;
    context.onItems?.(settled.items.length);
    const items = settled.items.map((item) => (context.keep?.(item) ?? item) as TestObject);
    return { ...settled, items };
  }

  async watch(options: ListOptions, context: WatchContext): Promise<WatchStream<TestObject>> {
    this.requests.push(describe(options.sendInitialEvents ? 'WATCHLIST' : 'WATCH', options));
    this.timeouts.push(options.timeoutSeconds ?? 0);
    this.signals.push(context.signal);
    const answer = await Promise.race([this.#watches.shift() ?? new TestStream(), aborted(context.signal)]);
    if (answer instanceof Error) throw answer;
    this.streams.push(answer);
    return answer;
  }
}

function aborted(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    if (signal.aborted) reject(signal.reason);
    signal.addEventListener('abort', () => reject(signal.reason), { once: true });
  });
}

function describe(verb: string, options: ListOptions): string {
  const parts = [verb, `rv=${options.resourceVersion ?? ''}`];
  if (options.limit !== undefined) parts.push(`limit=${options.limit}`);
  if (options.continue !== undefined) parts.push(`continue=${options.continue}`);
  return parts.join(' ');
}

/** Same numbers every time: mulberry32. */
export function seededRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
