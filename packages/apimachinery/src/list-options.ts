// Options of the verbs as they are on the wire.
// Upstream: apimachinery@v0.30.3:pkg/apis/meta/v1/types.go#ListOptions

export type ResourceVersionMatch = 'Exact' | 'NotOlderThan';

/** Query of a LIST or WATCH. Absent and empty differ only where the server says so (`sendInitialEvents`). */
export interface ListOptions {
  readonly labelSelector?: string;
  readonly fieldSelector?: string;
  readonly watch?: boolean;
  readonly allowWatchBookmarks?: boolean;
  readonly resourceVersion?: string;
  readonly resourceVersionMatch?: ResourceVersionMatch;
  /** Whole seconds; the server ends the watch after that time. */
  readonly timeoutSeconds?: number;
  readonly limit?: number;
  readonly continue?: string;
  readonly sendInitialEvents?: boolean;
}

export interface Preconditions {
  readonly uid?: string | undefined;
  readonly resourceVersion?: string | undefined;
}

export type DeletionPropagation = 'Orphan' | 'Background' | 'Foreground';

export interface DeleteOptions {
  readonly gracePeriodSeconds?: number;
  readonly preconditions?: Preconditions;
  readonly orphanDependents?: boolean;
  readonly propagationPolicy?: DeletionPropagation;
  readonly dryRun?: readonly string[];
}

export type FieldValidation = 'Ignore' | 'Warn' | 'Strict';

export interface CreateOptions {
  readonly dryRun?: readonly string[];
  readonly fieldManager?: string;
  readonly fieldValidation?: FieldValidation;
}
export type UpdateOptions = CreateOptions;
export interface PatchOptions extends CreateOptions {
  readonly force?: boolean;
}
