export * from './fault-proxy.ts';
export * from './leak-guard.ts';
export * from './recording.ts';
export * from './seeded-random.ts';
