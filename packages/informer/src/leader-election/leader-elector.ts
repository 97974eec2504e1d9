// One candidate of an election: takes the lock when it is free, keeps it while it can, and knows when it cannot.
// Upstream: client-go@v0.30.3:tools/leaderelection/leaderelection.go#LeaderElector
// Differs: leadership ends at the last renewal plus the renew deadline even when a request hangs; the lock is renewed while the
// work comes to its end and released only then; after a loss the candidate stands again.
import type { Clock, Logger } from '@kube-rx/apimachinery';
import { OptionsError, realClock, silentLogger, sleep } from '@kube-rx/apimachinery';
import type { Observable } from 'rxjs';
import { InformerStateError } from '../errors.ts';
import { childSignal } from '../rest/child-signal.ts';
import { BehaviorSubject } from '../rx/rxjs.ts';
import type { ElectionTiming } from './election-record.ts';
import { checkTiming, DEFAULT_TIMING, JITTER_FACTOR } from './election-record.ts';
import type { Fence } from './fence.ts';
import { LeadershipLostError, OwnedFence } from './fence.ts';
import type { ElectionLock } from './lease-lock.ts';
import { LockSession } from './lock-session.ts';

export interface LeaderElectorOptions extends Partial<ElectionTiming> {
  readonly lock: ElectionLock;
  /** Unique among the candidates, and new for each process: a restarted holder would keep its term. @defaultValue random */
  readonly identity?: string;
  /** Gives the lock up when the work has ended, so that the next candidate need not wait. @defaultValue true */
  readonly releaseOnCancel?: boolean;
  /** How long the lock is still renewed while the work ends after the signal, ms. @defaultValue renewDeadlineMs */
  readonly shutdownTimeoutMs?: number;
  readonly clock?: Clock;
  /** In [0, 1). @defaultValue Math.random */
  readonly random?: () => number;
  readonly logger?: Logger;
}

/** `leader` is the holder as last seen, empty when the lock is free or was never seen. */
export type ElectionState =
  | { readonly phase: 'idle' | 'candidate' | 'stopped'; readonly leader: string }
  | { readonly phase: 'leading' | 'stepping-down'; readonly leader: string; readonly fence: Fence };

/** `leading` aborts when the work has to end. */
export type LeaderWork<R> = (leading: AbortSignal, fence: Fence) => Promise<R> | R;

type Outcome<R> =
  | { readonly how: 'finished'; readonly result: R }
  | { readonly how: 'failed'; readonly error: unknown }
  | { readonly how: 'lost' | 'cancelled' };

export class LeaderElector {
  readonly identity: string;
  readonly #timing: ElectionTiming;
  readonly #options: LeaderElectorOptions;
  readonly #clock: Clock;
  readonly #random: () => number;
  readonly #logger: Logger;
  readonly #session: LockSession;
  readonly #state: BehaviorSubject<ElectionState> = new BehaviorSubject<ElectionState>({ phase: 'idle', leader: '' });

  constructor(options: LeaderElectorOptions) {
    this.#timing = {
      leaseDurationMs: options.leaseDurationMs ?? DEFAULT_TIMING.leaseDurationMs,
      renewDeadlineMs: options.renewDeadlineMs ?? DEFAULT_TIMING.renewDeadlineMs,
      retryPeriodMs: options.retryPeriodMs ?? DEFAULT_TIMING.retryPeriodMs,
    };
    checkTiming(this.#timing);
    this.#options = options;
    this.#clock = options.clock ?? realClock;
    this.#random = options.random ?? Math.random;
    this.#logger = options.logger ?? silentLogger;
    this.identity = options.identity ?? `kube-rx-${Math.floor(this.#random() * 2 ** 48).toString(16)}`;
    if (this.identity === '') throw new OptionsError('identity', this.identity, 'a name that no other candidate has');
    this.#session = new LockSession({
      lock: options.lock,
      identity: this.identity,
      timing: this.#timing,
      clock: this.#clock,
      logger: this.#logger,
      onHolder: (leader) => this.#state.next({ ...this.state, leader }),
    });
  }

  /** Hot, replays the present value; never errors; completes when the election has ended. */
  get state$(): Observable<ElectionState> {
    return this.#state.asObservable();
  }

  get state(): ElectionState {
    return this.#state.value;
  }

  /** For a health check: false when it leads by a lease that should have been renewed `toleranceMs` ago. */
  isHealthy(toleranceMs = 0): boolean {
    const { phase } = this.state;
    if (phase !== 'leading' && phase !== 'stepping-down') return true;
    return this.#clock.now() <= this.#session.observedAt + this.#timing.leaseDurationMs + toleranceMs;
  }

  /**
   * Stands for election until the signal aborts, and runs `work` whenever it leads. `leading` aborts when the signal does and, with a
   * LeadershipLostError, when the lock could not be renewed in time; then, when the work has ended, it stands again. Resolves with
   * what the work resolves with while it leads, or undefined when the signal ended it; rejects with what the work throws while it
   * leads. To be called once.
   */
  async whileLeader<R>(
    work: LeaderWork<R>,
    options: { readonly signal?: AbortSignal | undefined } = {},
  ): Promise<R | undefined> {
    const { signal } = options;
    if (this.state.phase !== 'idle') throw new InformerStateError('ALREADY_STARTED', 'an elector runs once');
    try {
      while (!signal?.aborted) {
        this.#state.next({ phase: 'candidate', leader: this.#session.holder });
        if (!(await this.#acquire(signal))) break;
        const outcome = await this.#lead(work, signal);
        if (outcome.how === 'failed') throw outcome.error;
        if (outcome.how === 'finished') return outcome.result;
      }
      return undefined;
    } finally {
      this.#state.next({ phase: 'stopped', leader: this.#session.holder });
      this.#state.complete();
    }
  }

  async #acquire(signal: AbortSignal | undefined): Promise<boolean> {
    const { renewDeadlineMs, retryPeriodMs } = this.#timing;
    for (;;) {
      const taken = await this.#session.attempt(signal, renewDeadlineMs);
      if (signal?.aborted) {
        // What was won, or may have been, while the signal aborted must not stay taken.
        if (taken || this.#session.uncertain) await this.#session.release(renewDeadlineMs);
        return false;
      }
      if (taken) return true;
      if (!(await this.#wait(retryPeriodMs * (1 + this.#random() * JITTER_FACTOR), signal))) return false;
    }
  }

  async #lead<R>(work: LeaderWork<R>, signal: AbortSignal | undefined): Promise<Outcome<R>> {
    const { renewDeadlineMs } = this.#timing;
    const fields = { identity: this.identity, term: this.#session.transitions, lock: this.#options.lock.description };
    const fence = new OwnedFence(this.#clock, this.identity, fields.term, this.#session.renewedAt + renewDeadlineMs);
    const leading = childSignal(signal);
    const renewing = childSignal(undefined);
    this.#logger.info('leading', fields);
    this.#state.next({ phase: 'leading', leader: this.identity, fence });
    const steppingDown = (): void => this.#state.next({ phase: 'stepping-down', leader: this.#session.holder, fence });
    const cancelled = this.#onCancel(signal, () => {
      steppingDown();
      const timeoutMs = this.#options.shutdownTimeoutMs ?? renewDeadlineMs;
      return this.#clock.setTimer(() => renewing.abort(), timeoutMs);
    });
    const running = settle(work, leading.signal, fence).finally(() => renewing.abort());
    const kept = await this.#renew(fence, renewing.signal);
    if (!kept) {
      fence.revoke();
      this.#logger.warn('leadership lost', fields);
      if (!leading.signal.aborted) steppingDown();
      leading.abort(new LeadershipLostError(`${this.identity} could not renew ${fields.lock} in time`));
    }
    const outcome = await running;
    cancelled.forget();
    const ended = leading.signal.aborted;
    if (ended && outcome.how === 'failed' && outcome.error !== leading.signal.reason) {
      this.#logger.warn('work failed while it was ended', { ...fields, error: outcome.error });
    }
    // A lock that ran out while the work would not end belongs to whoever has it now.
    const release = fence.isValid() && (this.#options.releaseOnCancel ?? true);
    fence.revoke();
    leading.release();
    if (release) await this.#session.release(renewDeadlineMs);
    return ended ? { how: kept ? 'cancelled' : 'lost' } : outcome;
  }

  /** Renews until the signal; false when the lock is lost. */
  async #renew(fence: OwnedFence, signal: AbortSignal): Promise<boolean> {
    const { renewDeadlineMs, retryPeriodMs } = this.#timing;
    const deadline = (): number => this.#session.renewedAt + renewDeadlineMs - this.#clock.now();
    while (await this.#wait(Math.min(retryPeriodMs, Math.max(deadline(), 0)), signal)) {
      const leftMs = deadline();
      if (leftMs <= 0) return false;
      const renewed = await this.#session.attempt(signal, leftMs);
      if (signal.aborted) return true;
      // Another holder, or the lock was taken anew by us under another term, is the end of this one.
      if (!this.#session.isHolder || this.#session.transitions !== fence.term) return false;
      if (renewed) fence.extend(this.#session.renewedAt + renewDeadlineMs);
    }
    return true;
  }

  #onCancel(signal: AbortSignal | undefined, run: () => { cancel(): void }): { forget(): void } {
    let timer: { cancel(): void } | undefined;
    const onAbort = (): void => {
      timer = run();
    };
    if (signal?.aborted) onAbort();
    else signal?.addEventListener('abort', onAbort, { once: true });
    return {
      forget() {
        signal?.removeEventListener('abort', onAbort);
        timer?.cancel();
      },
    };
  }

  /** False when the signal ended the wait. */
  async #wait(ms: number, signal: AbortSignal | undefined): Promise<boolean> {
    try {
      await sleep(this.#clock, ms, { signal });
      return true;
    } catch {
      return false;
    }
  }
}

async function settle<R>(work: LeaderWork<R>, leading: AbortSignal, fence: Fence): Promise<Outcome<R>> {
  try {
    return { how: 'finished', result: await work(leading, fence) };
  } catch (error) {
    return { how: 'failed', error };
  }
}
