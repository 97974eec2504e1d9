// Transforms that most informers can do with.
// Upstream: controller-runtime@v0.18.4:pkg/cache/cache.go#TransformStripManagedFields
import type { KubernetesObject } from '@kube-rx/apimachinery';

/**
 * Takes the bookkeeping of server-side apply off an object, which is often half of it and of no use to a cache. Changes the object in
 * place, as a transform may.
 *
 * @example factory.informer(Pods, { transform: stripManagedFields })
 */
export function stripManagedFields<T extends KubernetesObject>(object: T): T {
  const { metadata } = object as { readonly metadata?: { managedFields?: unknown } };
  if (metadata?.managedFields !== undefined) delete metadata.managedFields;
  return object;
}
