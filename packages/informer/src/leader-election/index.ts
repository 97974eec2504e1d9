export * from './elect.ts';
export type { ElectionTiming, LeaderElectionRecord } from './election-record.ts';
export type { Fence } from './fence.ts';
export { guardWrites, LeadershipLostError } from './fence.ts';
export * from './leader-elector.ts';
export * from './lease-lock.ts';
