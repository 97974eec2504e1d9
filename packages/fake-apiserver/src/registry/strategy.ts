// What a kind decides about its objects. The generic Store asks these in a fixed order; everything has a default, so a kind
// names only what is special about it.
// Upstream: apiserver@v0.30.3:pkg/registry/rest/create.go, update.go, delete.go
import type { DeleteOptions, StringSet } from '@kube-rx/apimachinery';
import type { ApiObject } from '../storage/api-object.ts';
import type { Draft } from './draft.ts';
import type { RequestContext } from './rest.ts';
import type { FieldErrors } from './validation/field-errors.ts';
import type { NameCheck } from './validation/object-meta.ts';

/** What a strategy knows of the request it decides about. */
export interface StrategyContext {
  readonly request: RequestContext;
  readonly namespace: string;
  readonly name: string;
  readonly dryRun: boolean;
  /** '' for the main resource. */
  readonly subresource: string;
  /** Of the request, which is not always that of the stored object. */
  readonly group: string;
  readonly version: string;
  /** Now, as the API writes it. */
  readonly now: string;
}

/** How an update through the main resource or one subresource behaves. */
export interface UpdateStrategy {
  /** Drops what this path may not change, and counts generations. */
  prepareForUpdate?(object: Draft, old: Draft, ctx: StrategyContext): void;
  validateUpdate?(object: Draft, old: Draft, errors: FieldErrors, ctx: StrategyContext): void;
  warningsOnUpdate?(object: Draft, old: Draft, ctx: StrategyContext): readonly string[];
}

export type GarbageCollectionPolicy = 'background' | 'orphan' | 'unsupported';

/** A selectable field as a request may name it, and the name its value is kept under. */
export type FieldLabels = ReadonlyMap<string, string>;

export interface Strategy extends UpdateStrategy {
  readonly namespaced: boolean;
  /** Default: a DNS subdomain. */
  readonly name?: NameCheck;
  /** Default false. */
  readonly allowCreateOnUpdate?: boolean;
  /** Whether an update without a resourceVersion overwrites. Default true. */
  readonly allowUnconditionalUpdate?: boolean;
  /** Answer a delete with the object instead of a Status. Default false. */
  readonly returnDeletedObject?: boolean;
  /** Default `background`. */
  readonly garbageCollection?: GarbageCollectionPolicy | ((options: DeleteOptions) => GarbageCollectionPolicy);
  /** True for kinds outside the built-in set, whose finalizer names are free. Default false. */
  readonly custom?: boolean;

  /** What decoding fills in; idempotent. The object is in a served version. */
  applyDefaults?(object: Draft): void;

  prepareForCreate?(object: Draft, ctx: StrategyContext): void;
  validateCreate?(object: Draft, errors: FieldErrors, ctx: StrategyContext): void;
  warningsOnCreate?(object: Draft, ctx: StrategyContext): readonly string[];
  /** Brings a valid object into the form that is stored. */
  canonicalize?(object: Draft): void;

  /**
   * Claims resources beyond the object (addresses, ports) before it is validated; may change the object. The result is called
   * once with the outcome. `old` is undefined for a create.
   */
  begin?(object: Draft, old: ApiObject | undefined, ctx: StrategyContext): ((written: boolean) => void) | undefined;
  /** True keeps an object in deletion whose last finalizer an update took off: something else still holds it. */
  keptDuringUpdate?(object: Draft): boolean;
  /** The object is gone for good. */
  afterDelete?(object: ApiObject): void;

  /** Said when a delete names neither a policy nor orphanDependents. */
  readonly deleteWarning?: string;
  /** The seconds of grace of a delete, undefined for one that is not graceful. */
  gracePeriodSeconds?(object: ApiObject, options: DeleteOptions): number | undefined;
  /** Lease of a stored object in seconds. */
  ttlSeconds?(object: ApiObject): number;

  /** Selectable values besides metadata.name and metadata.namespace. */
  selectableFields?(object: ApiObject): StringSet;
  /** The names a field selector may use; absent: metadata.name and metadata.namespace. */
  readonly fieldLabels?: FieldLabels;
  /** What is said of a name that is not among them, where it is said in other words than those of all kinds. */
  readonly unknownFieldLabel?: (field: string) => string;

  /** Updates through subresources that carry the whole object: `status`, `approval`, `ephemeralcontainers`, ... */
  readonly subresources?: Readonly<Record<string, UpdateStrategy>>;
  /** Paths field management ignores for a subresource ('' is the main resource), because the strategy resets them. */
  readonly resetFields?: Readonly<Record<string, readonly (readonly string[])[]>>;
}
