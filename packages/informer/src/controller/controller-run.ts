// One run of a controller, from the first handler to the last worker's end.
// Upstream: controller-runtime@v0.18.4:pkg/internal/controller/controller.go#Start, reconcileHandler
import type { Clock, Logger } from '@kube-rx/apimachinery';
import { isTerminalError, WaitError } from '../errors.ts';
import type { Fence } from '../leader-election/fence.ts';
import type { ChildSignal } from '../rest/child-signal.ts';
import { childSignal } from '../rest/child-signal.ts';
import type { HandlerRegistration } from '../shared-informer/event-handler.ts';
import { keyOf, splitMetaNamespaceKey } from '../store/key-func.ts';
import type { RateLimiter } from '../workqueue/default-rate-limiters.ts';
import type { WorkQueueMetricsProvider } from '../workqueue/metrics.ts';
import { PriorityQueue } from '../workqueue/priority-queue.ts';
import type {
  ControllerMetrics,
  Reconcile,
  ReconcileAnswer,
  ReconcileOutcome,
  ReconcileReport,
  ReconcileRequest,
} from './reconciler.ts';
import type { ControllerWatch, Enqueue, OwnerLookup } from './watches.ts';

export interface ControllerRunOptions {
  readonly name: string;
  readonly watches: readonly ControllerWatch[];
  readonly owners: OwnerLookup;
  readonly reconcile: Reconcile;
  readonly concurrency: number;
  readonly initialPriority: number;
  readonly cacheSyncTimeoutMs: number;
  readonly reconcileTimeoutMs: number | undefined;
  readonly drainTimeoutMs: number;
  readonly rateLimiter: (() => RateLimiter<string>) | undefined;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly metrics: ControllerMetrics | undefined;
  readonly queueMetrics: WorkQueueMetricsProvider | undefined;
  readonly signal: AbortSignal | undefined;
  readonly fence: Fence | undefined;
  readonly report: (report: ReconcileReport) => void;
}

export class ControllerRun {
  readonly #options: ControllerRunOptions;
  readonly #queue: PriorityQueue<string>;
  // Aborts the calls in progress.
  readonly #calls: ChildSignal;
  // Ends the wait for the caches.
  readonly #intake: ChildSignal;
  readonly #registrations: HandlerRegistration[] = [];
  #activeWorkers = 0;
  #ended: Promise<void> | undefined;

  constructor(options: ControllerRunOptions) {
    this.#options = options;
    const { clock, name, queueMetrics } = options;
    const rateLimiter = options.rateLimiter?.();
    this.#queue = new PriorityQueue<string>({
      clock,
      name,
      ...(rateLimiter === undefined ? {} : { rateLimiter }),
      ...(queueMetrics === undefined ? {} : { metrics: queueMetrics }),
    });
    this.#calls = childSignal(options.signal);
    this.#intake = childSignal(this.#calls.signal);
  }

  enqueue(request: ReconcileRequest, urgency: 'normal' | 'low' = 'normal'): void {
    const priority = urgency === 'low' ? this.#options.initialPriority : 0;
    this.#queue.add(keyOf(request.name, request.namespace), { priority });
  }

  run(): Promise<void> {
    this.#ended ??= this.#run();
    return this.#ended;
  }

  /** Ends the intake, lets the workers finish what is queued, and aborts them when they take too long. */
  async drain(): Promise<void> {
    const { clock, drainTimeoutMs, name } = this.#options;
    this.#intake.abort();
    const timer = clock.setTimer(
      () => void this.abort(new WaitError('TIMED_OUT', `controller ${name} did not drain within ${drainTimeoutMs} ms`)),
      drainTimeoutMs,
    );
    try {
      await this.#ended?.catch(() => {});
    } finally {
      timer.cancel();
    }
  }

  async abort(reason?: unknown): Promise<void> {
    this.#calls.abort(reason);
    await this.#ended?.catch(() => {});
  }

  async #run(): Promise<void> {
    const { concurrency, metrics } = this.#options;
    const stopIntake = (): void => {
      for (const registration of this.#registrations) void registration.remove();
      this.#queue.shutDown();
    };
    this.#intake.signal.addEventListener('abort', stopIntake, { once: true });
    this.#calls.signal.addEventListener('abort', () => this.#queue.discard(), { once: true });
    try {
      this.#attach();
      await this.#cachesSynced();
      metrics?.maxConcurrentReconciles(concurrency);
      await Promise.all(Array.from({ length: concurrency }, () => this.#work()));
    } finally {
      this.#intake.signal.removeEventListener('abort', stopIntake);
      stopIntake();
      this.#intake.release();
      this.#calls.release();
      await Promise.all(this.#registrations.map((registration) => registration.remove()));
    }
  }

  #attach(): void {
    const { name, owners, watches } = this.#options;
    if (this.#intake.signal.aborted) return;
    for (const [index, watch] of watches.entries()) {
      const enqueue: Enqueue = (request, urgency) => this.enqueue(request, urgency);
      this.#registrations.push(watch.attach(enqueue, owners, { name: `${name}/${watch.description}-${index}` }));
    }
  }

  /** A reconciler must not see half a cache: it would take for missing what has not come yet. */
  async #cachesSynced(): Promise<void> {
    const { cacheSyncTimeoutMs, clock, name } = this.#options;
    const child = childSignal(this.#intake.signal);
    let late = false;
    const timer = clock.setTimer(() => {
      late = true;
      child.abort();
    }, cacheSyncTimeoutMs);
    try {
      await Promise.all(this.#registrations.map((registration) => registration.whenSynced({ signal: child.signal })));
    } catch (cause) {
      if (this.#intake.signal.aborted) {
        this.#queue.discard();
        return;
      }
      const why = late ? `within ${cacheSyncTimeoutMs} ms` : 'because an informer stopped';
      throw new WaitError('NOT_SYNCED', `the caches of controller ${name} did not fill ${why}`, { cause });
    } finally {
      timer.cancel();
      child.release();
    }
  }

  async #work(): Promise<void> {
    for (let key = await this.#queue.get(); key !== undefined; key = await this.#queue.get()) {
      this.#options.metrics?.activeWorkers(++this.#activeWorkers);
      try {
        await this.#reconcile(key);
      } finally {
        this.#queue.done(key);
        this.#options.metrics?.activeWorkers(--this.#activeWorkers);
      }
    }
  }

  async #reconcile(key: string): Promise<void> {
    const { clock, logger, metrics, name } = this.#options;
    const { name: objectName, namespace } = splitMetaNamespaceKey(key);
    const request: ReconcileRequest = namespace === '' ? { name: objectName } : { name: objectName, namespace };
    const failures = this.#queue.numRequeues(key);
    const startedAt = clock.now();
    let outcome: ReconcileOutcome;
    let thrown: { readonly error: unknown } | undefined;
    try {
      outcome = this.#settle(key, await this.#call(request, failures));
    } catch (error) {
      thrown = { error };
      if (this.#calls.signal.aborted) outcome = 'aborted';
      else if (isTerminalError(error)) {
        outcome = 'terminal-error';
        this.#queue.forget(key);
        logger.error('reconcile failed for good', { controller: name, key, error });
      } else {
        outcome = 'error';
        this.#queue.addRateLimited(key, this.#queue.priorityOf(key));
        logger.warn('reconcile failed', { controller: name, key, failures: failures + 1, error });
      }
    }
    const report: ReconcileReport = { request, outcome, durationMs: clock.now() - startedAt, failures, ...thrown };
    metrics?.reconciled(report);
    this.#options.report(report);
  }

  #settle(key: string, answer: ReconcileAnswer): ReconcileOutcome {
    const priority = answer?.priority ?? this.#queue.priorityOf(key);
    if (answer?.requeueAfterMs !== undefined && answer.requeueAfterMs > 0) {
      this.#queue.forget(key);
      this.#queue.addAfter(key, answer.requeueAfterMs, priority);
      return 'requeue-after';
    }
    if (answer?.requeue === true) {
      this.#queue.addRateLimited(key, priority);
      return 'requeue';
    }
    this.#queue.forget(key);
    return 'success';
  }

  async #call(request: ReconcileRequest, failures: number): Promise<ReconcileAnswer> {
    const { clock, fence, reconcile, reconcileTimeoutMs } = this.#options;
    const child = childSignal(this.#calls.signal);
    const timer =
      reconcileTimeoutMs === undefined
        ? undefined
        : clock.setTimer(
            () => child.abort(new WaitError('TIMED_OUT', `reconcile took longer than ${reconcileTimeoutMs} ms`)),
            reconcileTimeoutMs,
          );
    try {
      const answer = await reconcile(request, { signal: child.signal, failures, fence });
      // A call that ran over its time and says that all is well has still worked on an aborted signal.
      if (child.signal.aborted && !this.#calls.signal.aborted) throw child.signal.reason;
      return answer;
    } finally {
      timer?.cancel();
      child.release();
    }
  }
}
