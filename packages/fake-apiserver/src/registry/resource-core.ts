// One stored resource: what the Stores of its served versions share.
import type { Clock, GroupVersionKind } from '@kube-rx/apimachinery';
import type { AdmissionAttributes, AdmissionChain } from '../admission/admission.ts';
import type { ApiObject } from '../storage/api-object.ts';
import type { ObjectAttributes } from '../storage/selection-predicate.ts';
import type { ResourceStorage } from '../storage/storage-factory.ts';
import { StoredObject } from '../storage/stored-object.ts';
import { clone, type Draft, put } from './draft.ts';
import type { Random } from './names.ts';
import type { ResourceInfo } from './rest.ts';
import type { FieldLabels, Strategy } from './strategy.ts';
import { metadata } from './validation/object-meta.ts';

export interface ResourceCore {
  readonly storage: ResourceStorage;
  readonly strategy: Strategy;
  /** Of the version in which objects are stored. */
  readonly kind: GroupVersionKind;
  /** Storage path without a trailing slash. */
  readonly prefix: string;
  readonly clock: Clock;
  readonly random: Random;
  readonly admission: AdmissionChain;
  /** How many names are tried for a generateName before the answer is 409. */
  readonly nameAttempts: number;
  /** Canonical form of the stored version. */
  canonical(object: Draft): ApiObject;
}

/** How objects look in one served version. */
export interface VersionView {
  readonly info: ResourceInfo;
  /** Names a field selector may use in this version, when they are not those of the strategy. */
  readonly fieldLabels?: FieldLabels | undefined;
  /** Fills defaults in and brings the object into canonical form; the argument stays as it is. */
  withDefaults(object: ApiObject): Draft;
  /** From this version to the stored one; may change its argument. */
  toStorage(object: Draft): Draft;
  /** From the stored version to this one; undefined when they are the same. */
  readonly fromStorage: ((object: ApiObject) => ApiObject) | undefined;
}

/** Selectable values of an object as its kind defines them. */
export function attributesOf(strategy: Strategy, object: ApiObject): ObjectAttributes {
  const { name = '', namespace = '', labels } = object.metadata;
  return {
    labels,
    fields: {
      'metadata.name': name,
      ...(strategy.namespaced ? { 'metadata.namespace': namespace } : {}),
      ...strategy.selectableFields?.(object),
    },
  };
}

/** A stored object that was never stored: the answer of a dry run. */
export function unstored(key: string, object: Draft): StoredObject {
  return new StoredObject(key, object as unknown as ApiObject, 0);
}

export function asDraft(object: ApiObject): Draft {
  return clone(object) as unknown as Draft;
}

/** The same object with another resourceVersion. */
export function withResourceVersion(object: Draft, resourceVersion: string): Draft {
  const copy = { ...object, metadata: { ...metadata(object) } };
  put(copy.metadata, 'resourceVersion', resourceVersion);
  return copy;
}

/** Views of stored objects in another version, made once per object so that their encodings are shared. */
export class ConvertedObjects {
  readonly #made = new WeakMap<StoredObject, StoredObject>();
  readonly #convert: (object: ApiObject) => ApiObject;

  constructor(convert: (object: ApiObject) => ApiObject) {
    this.#convert = convert;
  }

  of(stored: StoredObject): StoredObject {
    let made = this.#made.get(stored);
    if (made === undefined) {
      made = new StoredObject(stored.key, this.#convert(stored.object), stored.revision);
      this.#made.set(stored, made);
    }
    return made;
  }
}

export type AdmissionBase = Pick<
  AdmissionAttributes,
  'resource' | 'subresource' | 'kind' | 'namespace' | 'name' | 'dryRun' | 'request'
>;
