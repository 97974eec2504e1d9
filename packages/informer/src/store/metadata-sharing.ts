// Keeps equal parts of the metadata of many objects once. Field ownership alone can be larger than what it is about, and is the same for
// every object that the same controller wrote.
// Differs: client-go keeps every object apart; users strip managedFields with a transform instead.
import type { KubernetesObject, ManagedFieldsEntry, ObjectMeta } from '@kube-rx/apimachinery';
import { deepFreeze } from './deep-freeze.ts';
import { sameJson } from './same-json.ts';

// A value is looked for among so many of the same place that were met last.
const VARIANTS = 16;
const MAX_MANAGERS = 64;
// After so many tries a place whose values hardly ever repeat is left alone.
const TRIAL = 512;
const WORTH_ONE_IN = 8;

/** The values of one place. */
class Variants {
  readonly #recent: object[] = [];
  #tries = 0;
  #hits = 0;

  share<V extends object>(value: V): V {
    if (this.#tries >= TRIAL && this.#hits * WORTH_ONE_IN < this.#tries) return value;
    this.#tries++;
    for (const known of this.#recent) {
      if (!sameJson(known, value)) continue;
      this.#hits++;
      // Two objects have it now: a change of one would be a change of the other.
      return deepFreeze(known as V);
    }
    this.#recent.unshift(value);
    if (this.#recent.length > VARIANTS) this.#recent.pop();
    return value;
  }
}

type Mutable<T> = { -readonly [K in keyof T]: T[K] };

/**
 * Give it every object as it is decoded, before anybody else has it. Parts that become shared are frozen.
 *
 * @example
 * const sharing = new MetadataSharing();
 * for (const pod of pods) sharing.share(pod);
 */
export class MetadataSharing {
  readonly #labels = new Variants();
  readonly #owners = new Variants();
  readonly #managedFields = new Variants();
  readonly #fieldsOf = new Map<string, Variants>();
  #namespace: string | undefined;
  #time: string | undefined;

  /** Changes the object in place; what it says stays the same. */
  share(object: KubernetesObject): void {
    const metadata = object.metadata as Mutable<ObjectMeta> | undefined;
    if (typeof metadata !== 'object' || metadata === null) return;
    const { namespace, creationTimestamp, labels, ownerReferences, managedFields } = metadata;
    // Equal strings that were decoded apart are apart in memory.
    if (typeof namespace === 'string') {
      if (namespace === this.#namespace) metadata.namespace = this.#namespace;
      else this.#namespace = namespace;
    }
    if (typeof creationTimestamp === 'string') {
      if (creationTimestamp === this.#time) metadata.creationTimestamp = this.#time;
      else this.#time = creationTimestamp;
    }
    if (isObject(labels)) metadata.labels = this.#labels.share(labels);
    if (isObject(ownerReferences)) metadata.ownerReferences = this.#owners.share(ownerReferences);
    if (!Array.isArray(managedFields)) return;
    const shared = this.#managedFields.share(managedFields);
    if (shared === managedFields) managedFields.forEach(this.#shareFields, this);
    else metadata.managedFields = shared;
  }

  /** Most entries differ in their time alone. */
  #shareFields(entry: Mutable<ManagedFieldsEntry>): void {
    if (!isObject(entry) || !isObject(entry.fieldsV1) || Object.isFrozen(entry)) return;
    const manager = String(entry.manager);
    let variants = this.#fieldsOf.get(manager);
    if (variants === undefined) {
      if (this.#fieldsOf.size >= MAX_MANAGERS) return;
      variants = new Variants();
      this.#fieldsOf.set(manager, variants);
    }
    entry.fieldsV1 = variants.share(entry.fieldsV1);
  }
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}
