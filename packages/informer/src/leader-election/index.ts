export * from './elect.ts';
export type { ElectionTiming, LeaderElectionRecord } from './election-record.ts';
export type { Fence } from './fence.ts';
export { guardWrites, LeadershipLostError } from './fence.ts';
export * from './leader-elector.ts';
export { type ElectionLock, LeaseLock, type LockState } from './lease-lock.ts';
