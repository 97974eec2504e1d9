export * from './backoff.ts';
export * from './conditions.ts';
export * from './poll.ts';
export type { RetryOptions as RetryWorkOptions } from './retry.ts';
export { retryOnConflict, retryOnError } from './retry.ts';
export * from './retry-watcher.ts';
export * from './until.ts';
export * from './until-with-sync.ts';
export * from './wait-for-condition.ts';
