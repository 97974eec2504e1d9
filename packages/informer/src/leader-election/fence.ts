// Proof of leadership for work that must not run twice, and a guard for its writes.
import type { Clock } from '@kube-rx/apimachinery';
import { InformerError } from '../errors.ts';
import type { Transport } from '../rest/transport.ts';

/** Work was asked of a leader that no longer is one, or cannot be sure of it. */
export class LeadershipLostError extends InformerError {
  override readonly name = 'LeadershipLostError';
  readonly code = 'LEADERSHIP_LOST';
}

/**
 * One term of leadership. `term` grows with every change of the leader, so a store that refuses smaller terms than it has seen is safe
 * from a leader that was asleep (kubernetes#67651).
 */
export interface Fence {
  /** The lease's number of transitions. */
  readonly term: number;
  readonly identity: string;
  /** Clock time in ms until which nobody else can have taken the lock; moves with each renewal, and ends with the leadership. */
  readonly validUntil: number;
  isValid(): boolean;
  /** Throws a LeadershipLostError when it is not valid. */
  check(): void;
}

/** The elector's own end of a fence. */
export class OwnedFence implements Fence {
  readonly term: number;
  readonly identity: string;
  readonly #clock: Clock;
  #validUntil: number;

  constructor(clock: Clock, identity: string, term: number, validUntil: number) {
    this.#clock = clock;
    this.identity = identity;
    this.term = term;
    this.#validUntil = validUntil;
  }

  get validUntil(): number {
    return this.#validUntil;
  }

  isValid(): boolean {
    return this.#clock.now() < this.#validUntil;
  }

  check(): void {
    if (!this.isValid()) throw new LeadershipLostError(`${this.identity} no longer leads (term ${this.term})`);
  }

  extend(validUntil: number): void {
    this.#validUntil = validUntil;
  }

  revoke(): void {
    this.#validUntil = Number.NEGATIVE_INFINITY;
  }
}

/**
 * A transport that refuses every request but GET while the fence is not valid, with a LeadershipLostError. A request that is on
 * its way when the term ends is not called back.
 *
 * @example new RestClient({ server, transport: guardWrites(transport, fence) })
 */
export function guardWrites(transport: Transport, fence: Fence): Transport {
  return {
    async send(request) {
      if (request.method !== 'GET') fence.check();
      return transport.send(request);
    },
    close: () => transport.close(),
  };
}
