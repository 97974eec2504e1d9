// Field management: who owns which field of an object, and server-side apply.
export { FieldManager, type FieldManagerOptions } from './field-manager.ts';
export { decodeManagedFields, ManagedFieldsError } from './managed-fields.ts';
export { ignoreManagedFieldsTimestamps } from './noop-timestamps.ts';
export { VersionError } from './smd-value.ts';
