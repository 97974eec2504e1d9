// The shapes every API object has in common, as plain JSON.
// Upstream: apimachinery@v0.30.3:pkg/apis/meta/v1/types.go#ObjectMeta

/** Reference from a dependent object to its owner. */
export interface OwnerReference {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
  readonly uid: string;
  readonly controller?: boolean;
  readonly blockOwnerDeletion?: boolean;
}

/** One manager's set of fields, as server-side apply records it. */
export interface ManagedFieldsEntry {
  readonly manager?: string;
  readonly operation?: string;
  readonly apiVersion?: string;
  readonly time?: string;
  readonly fieldsType?: string;
  readonly fieldsV1?: object;
  readonly subresource?: string;
}

/**
 * What a generic constraint may ask of an object's metadata. It leaves out the timestamps on purpose: `kubernetes-types`
 * has them as strings, `@kubernetes/client-node` as `Date`, and both must satisfy {@link KubernetesObject}.
 */
export interface ObjectMetaLike {
  readonly name?: string | undefined;
  readonly generateName?: string | undefined;
  readonly namespace?: string | undefined;
  readonly uid?: string | undefined;
  readonly resourceVersion?: string | undefined;
  readonly generation?: number | undefined;
  readonly labels?: { readonly [key: string]: string } | undefined;
  readonly annotations?: { readonly [key: string]: string } | undefined;
  readonly finalizers?: readonly string[] | undefined;
}

/** Full metadata as it is on the wire; times are RFC 3339 strings with second precision. */
export interface ObjectMeta extends ObjectMetaLike {
  readonly selfLink?: string;
  readonly creationTimestamp?: string | null;
  readonly deletionTimestamp?: string;
  readonly deletionGracePeriodSeconds?: number;
  readonly ownerReferences?: readonly OwnerReference[];
  readonly managedFields?: readonly ManagedFieldsEntry[];
}

/** Metadata of a list. `remainingItemCount` is only there when the server knows it. */
export interface ListMeta {
  readonly resourceVersion?: string;
  readonly continue?: string;
  readonly remainingItemCount?: number;
  readonly selfLink?: string;
}

/**
 * The least an API object has. Use it as a constraint: `T extends KubernetesObject` accepts the interfaces of
 * `kubernetes-types` and the models of `@kubernetes/client-node` alike.
 */
export interface KubernetesObject {
  readonly apiVersion?: string | undefined;
  readonly kind?: string | undefined;
  readonly metadata?: ObjectMetaLike | undefined;
}

/** A list as it is on the wire; items of built-in lists carry neither `apiVersion` nor `kind`. */
export interface KubernetesListObject<T extends KubernetesObject> {
  readonly apiVersion?: string | undefined;
  readonly kind?: string | undefined;
  readonly metadata?: ListMeta | undefined;
  readonly items: readonly T[];
}
