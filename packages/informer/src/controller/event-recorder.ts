// Tells people what a controller does, as Events beside the objects.
// Upstream: client-go@v0.30.3:tools/record/event.go#EventRecorder, recordToSink
// Differs: closing waits for what is queued, within a bound.
import type { Clock, KubernetesObject, Logger } from '@kube-rx/apimachinery';
import {
  isAlreadyExists,
  isNotFound,
  OptionsError,
  realClock,
  silentLogger,
  sleep,
  statusOf,
} from '@kube-rx/apimachinery';
import { ResourceClient } from '../client/resource-client.ts';
import type { ResourceType } from '../rest/resource-type.ts';
import { defineResource } from '../rest/resource-type.ts';
import type { RestClient } from '../rest/rest-client.ts';
import { Fifo } from '../workqueue/fifo.ts';
import type { Correlated, EventType, InvolvedObject, Occurrence } from './event-correlator.ts';
import { EventCorrelator } from './event-correlator.ts';

export interface EventRecorderOptions {
  /** Who says it, for example `rollout-controller`. */
  readonly component: string;
  /** Which of several instances. @defaultValue the component */
  readonly instance?: string;
  readonly clock?: Clock;
  /** In [0, 1). @defaultValue Math.random */
  readonly random?: () => number;
  readonly logger?: Logger;
}

export interface EventRecorder extends AsyncDisposable {
  /**
   * Queues an Event and returns at once; never throws for what happens on the way. `reason` is short and in CamelCase. What cannot be sent
   * in two minutes, and what comes while 1000 wait, is dropped and logged.
   */
  event(object: KubernetesObject, type: EventType, reason: string, message: string): void;
  /** Takes nothing more and resolves when the queue is sent, after `timeoutMs` at the latest. @defaultValue 5000 */
  close(options?: { readonly timeoutMs?: number }): Promise<void>;
}

interface WireEvent extends KubernetesObject {
  readonly apiVersion?: 'v1';
  readonly kind?: 'Event';
  readonly involvedObject: InvolvedObject;
  readonly type: EventType;
  readonly reason: string;
  readonly message: string;
  readonly count: number;
  readonly firstTimestamp: string;
  readonly lastTimestamp: string;
  readonly source: { readonly component: string };
  readonly reportingComponent: string;
  readonly reportingInstance: string;
}

const WireEvents: ResourceType<WireEvent> = defineResource<WireEvent>()({
  apiVersion: 'v1',
  kind: 'Event',
  plural: 'events',
  scope: 'Namespaced',
});
const MAX_QUEUED = 1000;
const MAX_TRIES = 12;
const RETRY_MS = 10_000;

/** @example const recorder = createEventRecorder(client, { component: 'rollout-controller' }); */
export function createEventRecorder(
  client: RestClient | { readonly rest: RestClient },
  options: EventRecorderOptions,
): EventRecorder {
  if (options.component === '') throw new OptionsError('component', '', 'the name of the controller');
  return new Recorder('rest' in client ? client.rest : client, options);
}

class Recorder implements EventRecorder {
  readonly #client: ResourceClient<WireEvent>;
  readonly #options: EventRecorderOptions;
  readonly #clock: Clock;
  readonly #random: () => number;
  readonly #logger: Logger;
  readonly #correlator: EventCorrelator;
  readonly #queue = new Fifo<Occurrence>();
  readonly #abort = new AbortController();
  #sending: Promise<void> | undefined;
  #closed = false;
  #serial = 0;

  constructor(rest: RestClient, options: EventRecorderOptions) {
    this.#client = new ResourceClient(rest, WireEvents);
    this.#options = options;
    this.#clock = options.clock ?? rest.clock ?? realClock;
    this.#random = options.random ?? Math.random;
    this.#logger = options.logger ?? silentLogger;
    this.#correlator = new EventCorrelator(this.#clock);
  }

  event(object: KubernetesObject, type: EventType, reason: string, message: string): void {
    const { name = '', namespace, uid, resourceVersion } = object.metadata ?? {};
    if (this.#closed || this.#queue.length >= MAX_QUEUED) {
      this.#logger.warn('event dropped', { reason, name, closed: this.#closed });
      return;
    }
    const { apiVersion, kind } = object;
    this.#queue.push({ object: { apiVersion, kind, name, namespace, uid, resourceVersion }, type, reason, message });
    this.#sending ??= this.#send().finally(() => {
      this.#sending = undefined;
    });
  }

  async close(options: { readonly timeoutMs?: number } = {}): Promise<void> {
    this.#closed = true;
    const timer = this.#clock.setTimer(() => this.#abort.abort(), options.timeoutMs ?? 5000);
    await this.#sending;
    timer.cancel();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #send(): Promise<void> {
    for (let next = this.#queue.shift(); next !== undefined; next = this.#queue.shift()) {
      if (this.#abort.signal.aborted) return;
      const correlated = this.#correlator.correlate(next, this.#newName(next.object.name));
      if (correlated.action === 'drop') continue;
      await this.#deliver(next, correlated);
    }
  }

  async #deliver(occurrence: Occurrence, correlated: Exclude<Correlated, { action: 'drop' }>): Promise<void> {
    const { signal } = this.#abort;
    for (let attempt = 1; ; attempt++) {
      try {
        await this.#write(occurrence, correlated);
        return;
      } catch (error) {
        if (signal.aborted) return;
        // What the server has judged will not be judged otherwise the next time.
        if (statusOf(error) !== undefined || attempt >= MAX_TRIES) {
          if (!isAlreadyExists(error)) this.#logger.warn('event not sent', { reason: occurrence.reason, error });
          return;
        }
      }
      // The first wait is drawn, so that the controllers of a server that comes back do not all come at once.
      await sleep(this.#clock, attempt === 1 ? RETRY_MS * this.#random() : RETRY_MS, { signal }).catch(() => {});
      if (signal.aborted) return;
    }
  }

  async #write(occurrence: Occurrence, correlated: Exclude<Correlated, { action: 'drop' }>): Promise<void> {
    const { signal } = this.#abort;
    const now = new Date(this.#clock.now()).toISOString().replace(/\.\d+Z$/, 'Z');
    const { object, type, reason } = occurrence;
    const namespace = object.namespace === undefined || object.namespace === '' ? 'default' : object.namespace;
    const events = this.#client.namespace(namespace);
    const { message, key } = correlated;
    let count = 1;
    if (correlated.action === 'count') {
      count = correlated.count;
      try {
        await events.patch(correlated.name, { count, message, lastTimestamp: now }, { type: 'strategic', signal });
        return;
      } catch (error) {
        // Events live for an hour; the next one starts a new life.
        if (!isNotFound(error)) throw error;
      }
    }
    const name = this.#newName(object.name);
    const { component, instance = component } = this.#options;
    await events.create(
      {
        metadata: { name, namespace },
        involvedObject: object,
        type,
        reason,
        message,
        count,
        firstTimestamp: now,
        lastTimestamp: now,
        source: { component },
        reportingComponent: component,
        reportingInstance: instance,
      },
      { signal },
    );
    this.#correlator.stored(key, name);
  }

  /** As upstream: the object's name and the time in nanoseconds, of which our clock has the first six digits less. */
  #newName(objectName: string): string {
    const nanos = BigInt(Math.floor(this.#clock.now())) * 1_000_000n + BigInt(this.#serial++ % 1_000_000);
    return `${objectName}.${nanos.toString(16)}`;
  }
}
