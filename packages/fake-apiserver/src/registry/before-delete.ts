// Whether a delete happens at once, later, or is refused; and what it leaves on the object. All pure: the Store acts on it.
// Upstream: apiserver@v0.30.3:pkg/registry/rest/delete.go#BeforeDelete, pkg/registry/generic/registry/store.go
import { type DeleteOptions, type GroupVersionKind, newConflict, newInvalid } from '@kube-rx/apimachinery';
import type { ApiObject } from '../storage/api-object.ts';
import { type Draft, get, has, num, put, str, strings } from './draft.ts';
import type { GarbageCollectionPolicy, Strategy } from './strategy.ts';
import { formatTime, parseTime } from './time-form.ts';
import { FieldErrors, path } from './validation/field-errors.ts';
import { metadata } from './validation/object-meta.ts';

export const ORPHAN = 'orphan';
export const FOREGROUND = 'foregroundDeletion';

/** `pending`: the object is already being deleted with less or equal grace. */
export type Gracefulness = 'immediate' | 'graceful' | 'pending';

export interface DeletionPlan {
  readonly gracefulness: Gracefulness;
  /** Seconds that were settled on; meaningful when graceful. */
  readonly gracePeriodSeconds: number;
}

/** @throws StatusError 422. */
export function validateDeleteOptions(options: DeleteOptions): void {
  const errors = new FieldErrors();
  const { propagationPolicy: policy } = options;
  const at = path('propagationPolicy');
  if (options.orphanDependents !== undefined && policy !== undefined)
    errors.invalid(at, policy, 'orphanDependents and deletionPropagation cannot be both set');
  if (policy !== undefined && !['Foreground', 'Background', 'Orphan'].includes(policy))
    errors.notSupported(at, policy, ['Foreground', 'Background', 'Orphan', 'nil']);
  const dryRun = options.dryRun ?? [];
  if (dryRun.some((value) => value !== 'All')) errors.notSupported(path('dryRun'), dryRun, ['All']);
  if (!errors.empty) throw newInvalid({ group: 'meta.k8s.io', kind: 'DeleteOptions' }, '', errors.causes);
}

function checkPreconditions(meta: Draft, kind: GroupVersionKind, options: DeleteOptions): void {
  const { uid, resourceVersion } = options.preconditions ?? {};
  const resource = { group: kind.group, resource: kind.kind };
  if (uid !== undefined && uid !== str(meta, 'uid')) {
    throw newConflict(
      resource,
      str(meta, 'name'),
      `the UID in the precondition (${uid}) does not match the UID in record (${str(meta, 'uid')}). The object might have been deleted and then recreated`,
    );
  }
  if (resourceVersion !== undefined && resourceVersion !== str(meta, 'resourceVersion')) {
    throw newConflict(
      resource,
      str(meta, 'name'),
      `the ResourceVersion in the precondition (${resourceVersion}) does not match the ResourceVersion in record (${str(meta, 'resourceVersion')}). The object might have been modified`,
    );
  }
}

/** Decides about grace and writes the deletion mark of a graceful delete on the object. */
export function beforeDelete(
  strategy: Strategy,
  kind: GroupVersionKind,
  object: Draft,
  options: DeleteOptions,
  nowMs: number,
): DeletionPlan {
  validateDeleteOptions(options);
  const meta = metadata(object);
  checkPreconditions(meta, kind, options);
  const immediate: DeletionPlan = { gracefulness: 'immediate', gracePeriodSeconds: 0 };
  if (strategy.gracePeriodSeconds === undefined) return immediate;
  // A negative grace counts as one second.
  const asked = options.gracePeriodSeconds === undefined ? undefined : clampGrace(options.gracePeriodSeconds);
  const markedSeconds = num(meta, 'deletionGracePeriodSeconds');
  if (has(meta, 'deletionTimestamp')) {
    if (markedSeconds === undefined || markedSeconds === 0) return immediate;
    const running = clampGrace(markedSeconds);
    if (asked === undefined || asked >= running) return { gracefulness: 'pending', gracePeriodSeconds: running };
    const endMs = parseTime(str(meta, 'deletionTimestamp')) ?? nowMs;
    put(meta, 'deletionTimestamp', formatTime(endMs + (asked - running) * 1000));
    put(meta, 'deletionGracePeriodSeconds', asked);
    return { gracefulness: 'graceful', gracePeriodSeconds: asked };
  }
  const { gracePeriodSeconds: _unclamped, ...others } = options;
  const grace = strategy.gracePeriodSeconds(
    object as unknown as ApiObject,
    asked === undefined ? others : { ...others, gracePeriodSeconds: asked },
  );
  if (grace === undefined) return immediate;
  put(meta, 'deletionTimestamp', formatTime(nowMs + grace * 1000));
  put(meta, 'deletionGracePeriodSeconds', grace);
  bumpGeneration(meta);
  return { gracefulness: 'graceful', gracePeriodSeconds: grace };
}

const clampGrace = (seconds: number): number => (seconds < 0 ? 1 : seconds);

function bumpGeneration(meta: Draft): void {
  const generation = num(meta, 'generation') ?? 0;
  if (generation > 0) put(meta, 'generation', generation + 1);
}

/** The mark of an object that finalizers keep. */
export function markAsDeleting(object: Draft, nowMs: number): void {
  const meta = metadata(object);
  const marked = str(meta, 'deletionTimestamp');
  if (marked === '') bumpGeneration(meta);
  const markedMs = parseTime(marked);
  if (markedMs === undefined || markedMs > nowMs) put(meta, 'deletionTimestamp', formatTime(nowMs));
  put(meta, 'deletionGracePeriodSeconds', 0);
}

function shouldOrphan(policy: GarbageCollectionPolicy, finalizers: readonly string[], options: DeleteOptions): boolean {
  if (policy === 'unsupported') return false;
  if (options.orphanDependents !== undefined) return options.orphanDependents;
  if (options.propagationPolicy !== undefined) return options.propagationPolicy === 'Orphan';
  const own = finalizers.find((name) => name === ORPHAN || name === FOREGROUND);
  return own === undefined ? policy === 'orphan' : own === ORPHAN;
}

function shouldDeleteInForeground(
  policy: GarbageCollectionPolicy,
  finalizers: readonly string[],
  options: DeleteOptions,
): boolean {
  if (policy === 'unsupported' || options.orphanDependents !== undefined) return false;
  if (options.propagationPolicy !== undefined) return options.propagationPolicy === 'Foreground';
  return finalizers.find((name) => name === ORPHAN || name === FOREGROUND) === FOREGROUND;
}

/** The finalizers the garbage collector wants on the object, undefined when they are there already. */
export function deletionFinalizers(
  strategy: Strategy,
  object: Draft,
  options: DeleteOptions,
): readonly string[] | undefined {
  const { garbageCollection = 'background' } = strategy;
  const policy = typeof garbageCollection === 'function' ? garbageCollection(options) : garbageCollection;
  const present = strings(metadata(object), 'finalizers');
  const wanted = present.filter((name) => name !== ORPHAN && name !== FOREGROUND);
  if (shouldOrphan(policy, present, options)) wanted.push(ORPHAN);
  if (shouldDeleteInForeground(policy, present, options)) wanted.push(FOREGROUND);
  const same = new Set(present).size === new Set(wanted).size && wanted.every((name) => present.includes(name));
  return same ? undefined : wanted;
}

/** An update that takes the last finalizer off an object that is being deleted removes it. */
export function shouldDeleteDuringUpdate(object: Draft, existing: ApiObject): boolean {
  if (strings(metadata(object), 'finalizers').length > 0) return false;
  const old = existing.metadata;
  if (get(old as Draft, 'deletionTimestamp') === undefined) return false;
  return (old.deletionGracePeriodSeconds ?? 0) === 0;
}
