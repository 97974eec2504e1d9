export * from './default-rate-limiters.ts';
export * from './delaying-queue.ts';
export * from './metrics.ts';
export * from './priority-queue.ts';
export * from './queue.ts';
export * from './rate-limiting-queue.ts';
export * from './token-bucket.ts';
export type { RetryOptions, WorkItem } from './work-item.ts';
