// What a reconciler is asked and what it may answer.
// Upstream: controller-runtime@v0.18.4:pkg/reconcile/reconcile.go#Reconciler
import type { Fence } from '../leader-election/fence.ts';

/** Names the object to look at; cluster-scoped objects have no namespace. */
export interface ReconcileRequest {
  readonly name: string;
  readonly namespace?: string;
}

export interface ReconcileContext {
  /** Aborts when the controller is ended at once, the drain took too long, or the call exceeds its time limit. */
  readonly signal: AbortSignal;
  /** Failures in a row of this object before this call. */
  readonly failures: number;
  /** Given to `run`: proof of leadership, undefined without an election. */
  readonly fence: Fence | undefined;
}

/** Nothing means: wait for the next change. */
export interface ReconcileResult {
  /** Look again after so long, ms, if no change comes before. Ends the series of failures. */
  readonly requeueAfterMs?: number;
  /** Look again after a wait that grows with each time, as after an error but without being one. */
  readonly requeue?: boolean;
  /** Of the next look; larger goes first. @defaultValue that of this one */
  readonly priority?: number;
}

// biome-ignore lint/suspicious/noConfusingVoidType: a reconciler that returns nothing is the common case.
export type ReconcileAnswer = ReconcileResult | undefined | void;

/**
 * Brings one object to where it should be, from the state of the caches, not from an event: it may be called for a change that was
 * seen already, once for many changes, and for an object that is gone. Never runs twice at once for one object. Throwing means: try
 * again later; throwing a TerminalError means: not before the next change.
 */
export type Reconcile = (
  request: ReconcileRequest,
  context: ReconcileContext,
) => Promise<ReconcileAnswer> | ReconcileAnswer;

export type ReconcileOutcome = 'success' | 'requeue' | 'requeue-after' | 'error' | 'terminal-error' | 'aborted';

/** One call, as `results$` reports it. */
export interface ReconcileReport {
  readonly request: ReconcileRequest;
  readonly outcome: ReconcileOutcome;
  readonly durationMs: number;
  /** Failures in a row before this call. */
  readonly failures: number;
  /** What was thrown. */
  readonly error?: unknown;
}

/** Upstream: controller-runtime@v0.18.4:pkg/internal/controller/metrics/metrics.go. All calls must not throw. */
export interface ControllerMetrics {
  reconciled(report: ReconcileReport): void;
  activeWorkers(count: number): void;
  maxConcurrentReconciles(count: number): void;
}
