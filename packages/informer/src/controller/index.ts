export * from './controller.ts';
export { createEventRecorder, type EventRecorder, type EventRecorderOptions } from './event-recorder.ts';
export * from './finalizer.ts';
export * from './owner-references.ts';
export * from './predicates.ts';
export * from './reconciler.ts';
export type { ControllerWatch, OwnerLookup, ReconcileSource } from './watches.ts';
export { owned, watching } from './watches.ts';
