// The tries of one candidate on a lock, and what it has seen and written so far.
// Upstream: client-go@v0.30.3:tools/leaderelection/leaderelection.go#tryAcquireOrRenew, release
import type { Clock, Logger } from '@kube-rx/apimachinery';
import { childSignal } from '../rest/child-signal.ts';
import type { BackoffSteps } from '../tools/backoff.ts';
import { retryOnConflict } from '../tools/retry.ts';
import type { ElectionTiming, LeaderElectionRecord, Observation } from './election-record.ts';
import { claim, firstClaim, isHeldByOther, isLeaseValid, released } from './election-record.ts';
import type { ElectionLock } from './lease-lock.ts';

/** Until the time of the release is over: somebody may write the lease for other reasons than to take it. */
const RELEASE_BACKOFF: BackoffSteps = { steps: Number.POSITIVE_INFINITY, durationMs: 10, factor: 2, capMs: 1000 };

export interface LockSessionOptions {
  readonly lock: ElectionLock;
  readonly identity: string;
  readonly timing: ElectionTiming;
  readonly clock: Clock;
  readonly logger: Logger;
  /** The holder changed, as far as we know. */
  readonly onHolder: (holder: string) => void;
}

export class LockSession {
  readonly #options: LockSessionOptions;
  #observed: Observation | undefined;
  #observedRaw: string | undefined;
  #renewedAt = 0;
  #uncertain = false;

  constructor(options: LockSessionOptions) {
    this.#options = options;
  }

  /** Holder as last seen or written, empty when the lock is free or unknown. */
  get holder(): string {
    return this.#observed?.record.holderIdentity ?? '';
  }

  get isHolder(): boolean {
    return this.holder === this.#options.identity;
  }

  get transitions(): number {
    return this.#observed?.record.leaderTransitions ?? 0;
  }

  /** When the record was seen to change last. */
  get observedAt(): number {
    return this.#observed?.at ?? 0;
  }

  /** When the last write that succeeded was begun: nobody can have seen it earlier. */
  get renewedAt(): number {
    return this.#renewedAt;
  }

  /** A write was cut off: it may have taken effect without our knowing. */
  get uncertain(): boolean {
    return this.#uncertain;
  }

  /** One try to take or keep the lock, with a bound on how long its requests may take. */
  async attempt(signal: AbortSignal | undefined, timeoutMs: number): Promise<boolean> {
    const { clock, logger, lock } = this.#options;
    const child = childSignal(signal);
    const timer = clock.setTimer(() => child.abort(new Error(`no answer within ${timeoutMs} ms`)), timeoutMs);
    try {
      return await this.#tryAcquireOrRenew(child.signal);
    } catch (error) {
      if (!signal?.aborted) logger.debug('lock not taken', { lock: lock.description, error });
      return false;
    } finally {
      timer.cancel();
      child.release();
    }
  }

  /** Gives the lock up if it is ours. Never rejects: a lock that is not released runs out. */
  async release(timeoutMs: number): Promise<void> {
    const { clock, logger, lock, identity } = this.#options;
    const child = childSignal(undefined);
    const timer = clock.setTimer(() => child.abort(new Error(`no answer within ${timeoutMs} ms`)), timeoutMs);
    try {
      await retryOnConflict(
        async () => {
          const state = await lock.get(child.signal);
          if (state?.record.holderIdentity !== identity) return;
          await this.#write('update', released(state.record, clock.now()), child.signal);
        },
        { backoff: RELEASE_BACKOFF, clock, signal: child.signal },
      );
    } catch (error) {
      logger.warn('lock not released', { lock: lock.description, error });
    } finally {
      timer.cancel();
      this.#uncertain = false;
    }
  }

  async #tryAcquireOrRenew(signal: AbortSignal): Promise<boolean> {
    const { clock, identity, lock, logger } = this.#options;
    const { leaseDurationMs } = this.#options.timing;
    const known = this.#observed;
    if (known !== undefined && this.isHolder && isLeaseValid(known, clock.now(), leaseDurationMs)) {
      try {
        await this.#write('update', claim(identity, leaseDurationMs, known.record, clock.now()), signal);
        return true;
      } catch (error) {
        signal.throwIfAborted();
        logger.debug('lock changed since it was written', { lock: lock.description, error });
      }
    }
    const state = await lock.get(signal);
    if (state === undefined) {
      await this.#write('create', firstClaim(identity, leaseDurationMs, this.#observed?.record, clock.now()), signal);
      return true;
    }
    if (state.raw !== this.#observedRaw) {
      this.#observedRaw = state.raw;
      this.#observe(state.record);
    }
    if (isHeldByOther(this.#observed!, identity, clock.now(), leaseDurationMs)) return false;
    await this.#write('update', claim(identity, leaseDurationMs, state.record, clock.now()), signal);
    return true;
  }

  async #write(verb: 'create' | 'update', record: LeaderElectionRecord, signal: AbortSignal): Promise<void> {
    const startedAt = this.#options.clock.now();
    this.#uncertain = true;
    try {
      await this.#options.lock[verb](record, signal);
    } catch (error) {
      this.#uncertain = signal.aborted;
      throw error;
    }
    this.#uncertain = false;
    this.#renewedAt = startedAt;
    this.#observe(record);
  }

  /** The local time of a change counts, never the times in the record: clocks of other machines may be wrong. */
  #observe(record: LeaderElectionRecord): void {
    const before = this.holder;
    this.#observed = { record, at: this.#options.clock.now() };
    if (record.holderIdentity !== before) this.#options.onHolder(record.holderIdentity);
  }
}
