// Owners and finalizers in an object's metadata, without changing the object that is given.
// Upstream: controller-runtime@v0.18.4:pkg/controller/controllerutil/controllerutil.go
import type { KubernetesObject, OwnerReference } from '@kube-rx/apimachinery';
import { OptionsError } from '@kube-rx/apimachinery';
import type { ResourceType } from '../rest/resource-type.ts';

type Owned = { readonly ownerReferences?: readonly OwnerReference[] };

/** A reference to `owner`, marked as its controller. */
export function controllerReference(owner: KubernetesObject, type: ResourceType): OwnerReference {
  const { name, uid } = owner.metadata ?? {};
  if (!name || !uid) throw new OptionsError('owner', owner, 'an object as the server returned it, with name and uid');
  return { apiVersion: type.apiVersion, kind: type.kind, name, uid, controller: true, blockOwnerDeletion: true };
}

/**
 * A copy of `object` that is controlled by `owner`; deleting the owner deletes it. Throws when another controller has it already, or
 * the owner lives in another namespace.
 */
export function setControllerReference<T extends KubernetesObject>(
  object: T,
  owner: KubernetesObject,
  type: ResourceType,
): T {
  const reference = controllerReference(owner, type);
  const { namespace } = object.metadata ?? {};
  if (type.scope === 'Namespaced' && namespace !== owner.metadata?.namespace) {
    throw new OptionsError(
      'owner',
      owner.metadata?.namespace,
      `an object of the namespace ${JSON.stringify(namespace)}`,
    );
  }
  const known = (object.metadata as Owned | undefined)?.ownerReferences ?? [];
  const other = known.find((each) => each.controller === true && each.uid !== reference.uid);
  if (other !== undefined)
    throw new OptionsError('object', `${other.kind}/${other.name}`, 'an object without another controller');
  const ownerReferences = [...known.filter((each) => each.uid !== reference.uid), reference];
  return { ...object, metadata: { ...object.metadata, ownerReferences } };
}

/** A copy with the finalizer; the object itself when it has it. */
export function addFinalizer<T extends KubernetesObject>(object: T, finalizer: string): T {
  const known = object.metadata?.finalizers ?? [];
  if (known.includes(finalizer)) return object;
  return { ...object, metadata: { ...object.metadata, finalizers: [...known, finalizer] } };
}

/** A copy without the finalizer; the object itself when it does not have it. */
export function removeFinalizer<T extends KubernetesObject>(object: T, finalizer: string): T {
  const known = object.metadata?.finalizers ?? [];
  if (!known.includes(finalizer)) return object;
  return { ...object, metadata: { ...object.metadata, finalizers: known.filter((each) => each !== finalizer) } };
}
