// Delete: at once, gracefully, or marked until finalizers let go.
// Upstream: apiserver@v0.30.3:pkg/registry/generic/registry/store.go#Store.Delete, updateForGracefulDeletionAndFinalizers
import type { DeleteOptions, Preconditions } from '@kube-rx/apimachinery';
import type { ApiObject } from '../storage/api-object.ts';
import { isKeyNotFound } from '../storage/errors.ts';
import type { StoredObject } from '../storage/stored-object.ts';
import { beforeDelete, deletionFinalizers, markAsDeleting } from './before-delete.ts';
import { assign, type Draft, strings } from './draft.ts';
import { interpretGetError, interpretUpdateError } from './errors.ts';
import { asDraft, unstored } from './resource-core.ts';
import type { DeleteCall, DeleteResult, RequestContext, WriteCall } from './rest.ts';
import { metadata } from './validation/object-meta.ts';
import type { VerbTarget } from './verb-target.ts';

/** How the marking of an object ended. */
type Marking =
  | { readonly next: 'keep'; readonly stored: StoredObject }
  | { readonly next: 'remove'; readonly ignoreNotFound: boolean; readonly stored: StoredObject | undefined };

type Leave = 'already-deleting' | 'delete-now';

/** Ends the storage loop without a write. */
class LeaveLoop {
  readonly reason: Leave;
  constructor(reason: Leave) {
    this.reason = reason;
  }
}

export const isDryRun = (options: DeleteOptions): boolean => options.dryRun?.includes('All') === true;

export async function deleteObject(store: VerbTarget, ctx: RequestContext, call: DeleteCall): Promise<DeleteResult> {
  const { strategy } = store.core;
  const key = store.keyOf(call.namespace, call.name);
  const { options } = call;
  const { storage, kind, clock } = store.core;
  let existing: StoredObject;
  try {
    existing = await storage.get(key, { signal: ctx.signal });
  } catch (error) {
    throw interpretGetError(error, store.qualified, call.name);
  }
  const result = (stored: StoredObject, deleted: boolean): DeleteResult => ({
    stored: store.show(stored),
    deleted,
    returnDeletedObject: strategy.returnDeletedObject === true,
  });
  const draft = asDraft(existing.object);
  const plan = beforeDelete(strategy, kind, draft, options, clock.now());
  if (plan.gracefulness === 'pending') return result(existing, false);
  const kept = strings(metadata(draft), 'finalizers').length > 0;
  const changes = deletionFinalizers(strategy, draft, options) !== undefined;
  let marking: Marking = { next: 'remove', ignoreNotFound: false, stored: undefined };
  if (plan.gracefulness === 'graceful' || kept || changes) {
    try {
      marking = await markForDeletion(store, ctx, call, key, existing);
    } catch (error) {
      throw interpretUpdateError(error, store.qualified, call.name);
    }
  }
  if (marking.next === 'keep') return result(marking.stored, false);
  if (isDryRun(options) && marking.stored !== undefined) return result(marking.stored, true);
  return result(await removeObject(store, ctx, call, key, marking, existing), true);
}

async function removeObject(
  store: VerbTarget,
  ctx: RequestContext,
  call: DeleteCall,
  key: string,
  marking: Extract<Marking, { next: 'remove' }>,
  existing: StoredObject,
): Promise<StoredObject> {
  const { storage, strategy } = store.core;
  const validateDeletion = (stored: StoredObject): Promise<void> => admitDelete(store, ctx, call, stored.object);
  if (isDryRun(call.options)) {
    await validateDeletion(existing);
    return existing;
  }
  try {
    const preconditions = remainingPreconditions(call.options.preconditions, marking.stored);
    const removed = await storage.delete(key, { preconditions, validateDeletion, signal: ctx.signal });
    strategy.afterDelete?.(removed.object);
    return removed;
  } catch (error) {
    if (isKeyNotFound(error) && marking.ignoreNotFound && marking.stored !== undefined) return marking.stored;
    throw interpretUpdateError(error, store.qualified, call.name);
  }
}

/** The mark moved the version; a precondition on it moves along. */
function remainingPreconditions(
  asked: Preconditions | undefined,
  marked: StoredObject | undefined,
): Preconditions | undefined {
  if (asked?.resourceVersion === undefined || marked === undefined) return asked;
  return { ...asked, resourceVersion: marked.object.metadata.resourceVersion };
}

async function admitDelete(store: VerbTarget, ctx: RequestContext, call: DeleteCall, old: ApiObject): Promise<void> {
  const dryRun = isDryRun(call.options);
  const attributes = {
    ...store.admissionAttributes(ctx, { namespace: call.namespace, dryRun }, call.name),
    operation: 'DELETE' as const,
    object: undefined,
    old,
    options: call.options,
  };
  await store.core.admission.admit(attributes);
  await store.core.admission.validate(attributes);
}

async function markForDeletion(
  store: VerbTarget,
  ctx: RequestContext,
  call: DeleteCall,
  key: string,
  first: StoredObject,
): Promise<Marking> {
  const { strategy, kind, clock, storage } = store.core;
  const state = { grace: 0, pendingFinalizers: false };
  const mark = async (existing: StoredObject | undefined): Promise<{ readonly object: ApiObject }> => {
    if (existing === undefined) throw new LeaveLoop('delete-now');
    await admitDelete(store, ctx, call, existing.object);
    const draft = asDraft(existing.object);
    const plan = beforeDelete(strategy, kind, draft, call.options, clock.now());
    if (plan.gracefulness === 'pending') throw new LeaveLoop('already-deleting');
    const finalizers = deletionFinalizers(strategy, draft, call.options);
    if (finalizers !== undefined) assign(metadata(draft), 'finalizers', [...finalizers]);
    state.pendingFinalizers = strings(metadata(draft), 'finalizers').length > 0;
    state.grace = plan.gracePeriodSeconds;
    if (plan.gracefulness !== 'graceful') {
      if (!state.pendingFinalizers) throw new LeaveLoop('delete-now');
      markAsDeleting(draft, clock.now());
    }
    return { object: store.core.canonical(draft) };
  };
  try {
    const stored = isDryRun(call.options)
      ? unstored(key, (await mark(first)).object as unknown as Draft)
      : (
          await storage.guaranteedUpdate(key, mark, {
            preconditions: call.options.preconditions,
            signal: ctx.signal,
          })
        ).stored;
    if (state.pendingFinalizers || state.grace > 0) return { next: 'keep', stored };
    return { next: 'remove', ignoreNotFound: true, stored };
  } catch (error) {
    if (!(error instanceof LeaveLoop)) throw error;
    if (error.reason === 'already-deleting') return { next: 'keep', stored: first };
    return { next: 'remove', ignoreNotFound: false, stored: undefined };
  }
}

/** Removes an object whose last finalizer an update took off; answers with the updated object. */
export async function deleteWithoutFinalizers(
  store: VerbTarget,
  ctx: RequestContext,
  call: WriteCall & { readonly name: string; readonly preconditions?: Preconditions | undefined },
  key: string,
  object: Draft,
): Promise<StoredObject> {
  const { storage, strategy } = store.core;
  const answer = unstored(key, object);
  if (call.dryRun) return answer;
  try {
    const removed = await storage.delete(key, { preconditions: call.preconditions, signal: ctx.signal });
    strategy.afterDelete?.(removed.object);
  } catch (error) {
    // Somebody else was faster: the object is gone, which is what was wanted.
    if (!isKeyNotFound(error)) throw interpretUpdateError(error, store.qualified, call.name);
  }
  return answer;
}
