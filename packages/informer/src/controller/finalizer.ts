// Work that must be done before an object may go: the finalizer is there before the work begins, and goes when it is undone.
// Upstream: controller-runtime@main:pkg/finalizer/finalizer.go#Finalizers, kube@4.2.0:kube-runtime/src/finalizer.rs#finalizer
import type { KubernetesObject, ObjectMeta } from '@kube-rx/apimachinery';
import { isNotFound } from '@kube-rx/apimachinery';
import type { MergePatch } from '../client/patch.ts';
import type { ResourceClient } from '../client/resource-client.ts';
import type { Live } from '../rest/resource-type.ts';
import { addFinalizer, removeFinalizer } from './owner-references.ts';
import type { ReconcileAnswer, ReconcileContext } from './reconciler.ts';

export interface FinalizerOptions<T extends KubernetesObject> {
  readonly client: ResourceClient<T>;
  /** `example.com/cleanup`: a domain of yours and a name. */
  readonly finalizer: string;
  /** The object is to be as it says; the finalizer is there. */
  apply(object: Live<T>, context: ReconcileContext): Promise<ReconcileAnswer> | ReconcileAnswer;
  /**
   * The object is being deleted. When this returns the finalizer is taken away; answering with `requeue` or `requeueAfterMs` keeps it
   * and asks again, throwing tries again. May be called more than once.
   */
  cleanup(object: Live<T>, context: ReconcileContext): Promise<ReconcileAnswer> | ReconcileAnswer;
}

/**
 * One reconcile of an object with a finalizer. Changes are made only to the version that was seen: a conflict is thrown, and the
 * reconcile comes again with the newer state.
 *
 * @example
 * reconcile({ name, namespace }, context) {
 *   const bucket = buckets.store.get(name, namespace);
 *   if (bucket === undefined) return;
 *   return reconcileWithFinalizer(bucket, context, { client, finalizer: 'example.com/bucket', apply, cleanup });
 * }
 */
export async function reconcileWithFinalizer<T extends KubernetesObject>(
  object: Live<T>,
  context: ReconcileContext,
  options: FinalizerOptions<T>,
): Promise<ReconcileAnswer> {
  const { finalizer } = options;
  const metadata: ObjectMeta = object.metadata;
  const present = metadata.finalizers?.includes(finalizer) ?? false;
  if (metadata.deletionTimestamp === undefined) {
    if (present) return options.apply(object, context);
    // The event of this write brings the object back, with the finalizer.
    await write(object, addFinalizer(object, finalizer), context, options);
    return undefined;
  }
  if (!present) return undefined;
  const answer = await options.cleanup(object, context);
  if (answer?.requeue === true || (answer?.requeueAfterMs ?? 0) > 0) return answer;
  try {
    await write(object, removeFinalizer(object, finalizer), context, options);
  } catch (error) {
    // Somebody else was quicker, and nothing is left to be done.
    if (!isNotFound(error)) throw error;
  }
  return undefined;
}

async function write<T extends KubernetesObject>(
  seen: Live<T>,
  wanted: Live<T>,
  { signal }: ReconcileContext,
  { client }: FinalizerOptions<T>,
): Promise<void> {
  const { resourceVersion, uid } = seen.metadata;
  const patch = { metadata: { resourceVersion, uid, finalizers: wanted.metadata.finalizers ?? [] } };
  await client.patch(seen.metadata, patch as unknown as MergePatch<T>, { signal, type: 'merge' });
}
