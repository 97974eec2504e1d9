// What a lock says about who leads, and what follows from it. Pure.
// Upstream: client-go@v0.30.3:tools/leaderelection/resourcelock/interface.go#LeaderElectionRecord, tools/leaderelection/leaderelection.go#LeaderElector
import { OptionsError } from '@kube-rx/apimachinery';

/** Times are ms since 1970, as the holder's clock saw them; nobody else computes with them. */
export interface LeaderElectionRecord {
  /** Empty when the lock was released. */
  readonly holderIdentity: string;
  readonly leaseDurationSeconds: number;
  readonly acquireTime: number;
  readonly renewTime: number;
  /** Grows with each change of the holder. */
  readonly leaderTransitions: number;
}

/** A record and the local time at which it was first seen in this form. */
export interface Observation {
  readonly record: LeaderElectionRecord;
  readonly at: number;
}

export interface ElectionTiming {
  /** How long a candidate waits after the last change it saw, ms. */
  readonly leaseDurationMs: number;
  /** How long a leader goes on without a successful renewal, ms. */
  readonly renewDeadlineMs: number;
  /** Between two tries, ms. */
  readonly retryPeriodMs: number;
}

export const DEFAULT_TIMING: ElectionTiming = {
  leaseDurationMs: 15_000,
  renewDeadlineMs: 10_000,
  retryPeriodMs: 2_000,
};
/** A wait for the lock is the retry period and up to this part of it more. */
export const JITTER_FACTOR = 1.2;

export function checkTiming(timing: ElectionTiming): void {
  const { leaseDurationMs, renewDeadlineMs, retryPeriodMs } = timing;
  if (!(leaseDurationMs >= 1000)) throw new OptionsError('leaseDurationMs', leaseDurationMs, 'at least 1000');
  if (!(retryPeriodMs > 0)) throw new OptionsError('retryPeriodMs', retryPeriodMs, 'a number above 0');
  if (!(renewDeadlineMs < leaseDurationMs)) {
    throw new OptionsError('renewDeadlineMs', renewDeadlineMs, `less than leaseDurationMs (${leaseDurationMs})`);
  }
  if (!(renewDeadlineMs > retryPeriodMs * JITTER_FACTOR)) {
    throw new OptionsError(
      'renewDeadlineMs',
      renewDeadlineMs,
      `more than ${JITTER_FACTOR} times retryPeriodMs (${retryPeriodMs})`,
    );
  }
}

/**
 * The duration in the record counts, not the candidate's own: a short-lived candidate must not take a long lease (kubernetes#47671).
 * A record without one, as a library with a misspelt field writes it, is waited for as if it were ours.
 */
export const isLeaseValid = ({ record, at }: Observation, now: number, ownDurationMs: number): boolean =>
  at + (record.leaseDurationSeconds > 0 ? record.leaseDurationSeconds * 1000 : ownDurationMs) > now;

/** True when somebody else holds a lease that has not run out as far as we have seen. */
export const isHeldByOther = (seen: Observation, identity: string, now: number, ownDurationMs: number): boolean =>
  seen.record.holderIdentity !== '' &&
  seen.record.holderIdentity !== identity &&
  isLeaseValid(seen, now, ownDurationMs);

/** The record with which `identity` takes the lock that has this record, or keeps it. */
export function claim(
  identity: string,
  leaseDurationMs: number,
  before: LeaderElectionRecord,
  now: number,
): LeaderElectionRecord {
  const keeps = before.holderIdentity === identity;
  return {
    holderIdentity: identity,
    leaseDurationSeconds: Math.floor(leaseDurationMs / 1000),
    acquireTime: keeps ? before.acquireTime : now,
    renewTime: now,
    leaderTransitions: before.leaderTransitions + (keeps ? 0 : 1),
  };
}

/** The record with which `identity` makes the lock. A lock that was seen before and is gone goes on counting, so that terms never repeat. */
export function firstClaim(
  identity: string,
  leaseDurationMs: number,
  lastSeen: LeaderElectionRecord | undefined,
  now: number,
): LeaderElectionRecord {
  return {
    holderIdentity: identity,
    leaseDurationSeconds: Math.floor(leaseDurationMs / 1000),
    acquireTime: now,
    renewTime: now,
    leaderTransitions: lastSeen === undefined ? 0 : lastSeen.leaderTransitions + 1,
  };
}

/** The record that gives the lock up: a second is the shortest duration the API accepts (kubernetes#91966). */
export function released(before: LeaderElectionRecord, now: number): LeaderElectionRecord {
  return {
    holderIdentity: '',
    leaseDurationSeconds: 1,
    acquireTime: now,
    renewTime: now,
    leaderTransitions: before.leaderTransitions,
  };
}
