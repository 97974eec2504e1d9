// A reconcile loop: events of informers become keys of a queue, workers bring one object at a time to where it should be.
// Upstream: controller-runtime@v0.18.4:pkg/internal/controller/controller.go#Controller
// Differs: the caches are given, not owned; no global rate limit in front of the workers; close() drains.
import type { Clock, KubernetesObject, Logger } from '@kube-rx/apimachinery';
import { OptionsError, realClock, silentLogger } from '@kube-rx/apimachinery';
import type { Observable } from 'rxjs';
import { InformerStateError } from '../errors.ts';
import type { Fence } from '../leader-election/fence.ts';
import { Subject } from '../rx/rxjs.ts';
import type { RateLimiter } from '../workqueue/default-rate-limiters.ts';
import type { WorkQueueMetricsProvider } from '../workqueue/metrics.ts';
import { LOW_PRIORITY } from '../workqueue/priority-queue.ts';
import { ControllerRun } from './controller-run.ts';
import type { EventPredicate } from './predicates.ts';
import type { ControllerMetrics, Reconcile, ReconcileReport, ReconcileRequest } from './reconciler.ts';
import type { ControllerWatch, ReconcileSource } from './watches.ts';
import { own, owned, ownerLookup } from './watches.ts';

export interface ControllerOptions<T extends KubernetesObject> {
  /** For messages and metrics. */
  readonly name: string;
  /** The objects that are reconciled. */
  readonly for: ReconcileSource<T>;
  /** Which of their events count. @defaultValue all */
  readonly when?: EventPredicate<T>;
  /** Sources whose objects are controlled by a reconciled one, by owner reference; {@link owned} has more choices. */
  readonly owns?: readonly (ReconcileSource<KubernetesObject> | ControllerWatch)[];
  /** Other sources, see {@link watching}. */
  readonly watches?: readonly ControllerWatch[];
  readonly reconcile: Reconcile;
  /** Objects that are reconciled at once. @defaultValue 1 */
  readonly concurrency?: number;
  /**
   * Of objects of a first list or a resync; changes have 0 and go before them, so that a restart over thousands of objects does not
   * hold up news. @defaultValue -100
   */
  readonly initialPriority?: number;
  /** Of one run. @defaultValue 5 ms doubled with each failure of an object, up to 1000 s */
  readonly rateLimiter?: () => RateLimiter<string>;
  /** How long the caches may take to fill before `run` rejects, ms. @defaultValue 120 000 */
  readonly cacheSyncTimeoutMs?: number;
  /** Longest call, ms; then its signal aborts and the call counts as failed. @defaultValue none */
  readonly reconcileTimeoutMs?: number;
  /** How long `close` waits for work before it aborts it, ms. @defaultValue 30 000 */
  readonly drainTimeoutMs?: number;
  readonly clock?: Clock;
  readonly logger?: Logger;
  readonly metrics?: ControllerMetrics;
  readonly queueMetrics?: WorkQueueMetricsProvider;
}

export interface RunOptions {
  /** Ends the run at once: calls in progress get their signal, what is queued is left. */
  readonly signal?: AbortSignal | undefined;
  /** Passed to the reconciler. */
  readonly fence?: Fence | undefined;
}

/** Made by {@link createController}. */
export interface Controller extends AsyncDisposable {
  readonly name: string;
  /** Hot, one value a call, never errors; completes when the controller is closed. */
  readonly results$: Observable<ReconcileReport>;
  readonly running: boolean;
  /**
   * Waits for the caches, then reconciles. Resolves when the signal has aborted or the controller was closed and every call has ended.
   * Rejects with a WaitError NOT_SYNCED when the caches do not fill in time, with an InformerStateError when it runs already. May
   * be called again after it has ended, for example in the next term of a leader.
   */
  run(options?: RunOptions | AbortSignal): Promise<void>;
  /** Asks for an object to be looked at, as an event would. Nothing happens when the controller does not run. */
  trigger(request: ReconcileRequest): void;
  /** Asks for all objects of the `for` source. */
  triggerAll(): void;
  /** No new work; what is queued is done and the run ends. Bounded by `drainTimeoutMs`. */
  close(): Promise<void>;
  /** Aborts the calls in progress and ends the run. */
  destroy(reason?: unknown): Promise<void>;
}

/**
 * @example
 * await using controller = createController({
 *   name: 'rollout', for: deployments, owns: [replicaSets], concurrency: 4, when: generationChanged,
 *   async reconcile({ name, namespace }, { signal }) {
 *     const deployment = deployments.store.get(name, namespace);
 *     if (deployment === undefined) return;                               // gone
 *     if (!deployment.spec?.selector) throw new TerminalError('no selector');  // not before the next change
 *     await client.resource(Deployments).patchStatus(deployment.metadata, { status: { replicas: 1 } }, { signal });
 *     return { requeueAfterMs: 60_000 };
 *   },
 * });
 * await controller.run(signal);
 */
export function createController<T extends KubernetesObject>(options: ControllerOptions<T>): Controller {
  return new ReconcileController(options);
}

class ReconcileController<T extends KubernetesObject> implements Controller {
  readonly name: string;
  readonly #options: ControllerOptions<T>;
  readonly #watches: readonly ControllerWatch[];
  readonly #results: Subject<ReconcileReport> = new Subject<ReconcileReport>();
  #run: ControllerRun | undefined;
  #closed = false;

  constructor(options: ControllerOptions<T>) {
    const { concurrency = 1 } = options;
    if (!(concurrency >= 1)) throw new OptionsError('concurrency', concurrency, 'a number of at least 1');
    if (options.name === '') throw new OptionsError('name', options.name, 'a name');
    this.name = options.name;
    this.#options = options;
    this.#watches = [
      own(options.for, options.when),
      ...(options.owns ?? []).map((source) => ('attach' in source ? source : owned(source))),
      ...(options.watches ?? []),
    ];
  }

  get results$(): Observable<ReconcileReport> {
    return this.#results.asObservable();
  }

  get running(): boolean {
    return this.#run !== undefined;
  }

  async run(given: RunOptions | AbortSignal = {}): Promise<void> {
    const { signal, fence } = given instanceof AbortSignal ? { signal: given, fence: undefined } : given;
    if (this.#closed) throw new InformerStateError('STOPPED', `controller ${this.name} is closed`);
    if (this.#run !== undefined)
      throw new InformerStateError('ALREADY_RUNNING', `controller ${this.name} runs already`);
    if (signal?.aborted) return;
    const { clock = realClock, logger = silentLogger } = this.#options;
    const run = new ControllerRun({
      name: this.name,
      watches: this.#watches,
      owners: ownerLookup(this.#options.for.store),
      reconcile: this.#options.reconcile,
      concurrency: this.#options.concurrency ?? 1,
      initialPriority: this.#options.initialPriority ?? LOW_PRIORITY,
      cacheSyncTimeoutMs: this.#options.cacheSyncTimeoutMs ?? 120_000,
      reconcileTimeoutMs: this.#options.reconcileTimeoutMs,
      drainTimeoutMs: this.#options.drainTimeoutMs ?? 30_000,
      rateLimiter: this.#options.rateLimiter,
      clock,
      logger,
      metrics: this.#options.metrics,
      queueMetrics: this.#options.queueMetrics,
      signal,
      fence,
      report: (report) => this.#results.next(report),
    });
    this.#run = run;
    try {
      await run.run();
    } finally {
      this.#run = undefined;
    }
  }

  trigger(request: ReconcileRequest): void {
    this.#run?.enqueue(request);
  }

  triggerAll(): void {
    for (const { metadata } of this.#options.for.store.list()) {
      const { name, namespace } = metadata;
      this.trigger(namespace === undefined ? { name } : { name, namespace });
    }
  }

  async close(): Promise<void> {
    this.#closed = true;
    await this.#run?.drain();
    this.#results.complete();
  }

  async destroy(reason?: unknown): Promise<void> {
    this.#closed = true;
    await this.#run?.abort(reason);
    this.#results.complete();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }
}
