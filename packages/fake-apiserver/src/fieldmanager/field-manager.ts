// Keeps an object's managedFields through writes, and carries out server-side apply.
// Upstream: apimachinery@v0.30.3:pkg/util/managedfields/internal/fieldmanager.go#FieldManager
// Differs: one class for upstream's chain of eight managers; an apply's result is not defaulted here, the registry does that.
import { newBadRequest, newUnknownError, parseGroupVersion } from '@kube-rx/apimachinery';
import { normalizeUnstored } from '../schema/normalize-builtin.ts';
import type { Schema } from '../schema/schema.ts';
import type { ApiObject } from '../storage/api-object.ts';
import { ConflictsError, conflictStatus } from './conflicts.ts';
import { FieldSet } from './field-set.ts';
import { fieldsOfLastApplied, KUBECTL_MANAGER, withLastApplied } from './last-applied.ts';
import {
  capUpdateManagers,
  decodeManagedFields,
  emptyManaged,
  encodeManagedFields,
  isResetManagedFields,
  type Managed,
  ManagedFieldsError,
  managerIdentifier,
  type VersionedSet,
} from './managed-fields.ts';
import { fieldElement } from './path-element.ts';
import { type SmdType, smdTypeOf } from './smd-type.ts';
import { SmdError, VersionError } from './smd-value.ts';
import { stripMeta } from './strip-meta.ts';
import { type TypedObject, Updater } from './updater.ts';
import { validateTyped } from './validate.ts';

export interface FieldManagerOptions {
  /** Undefined for custom resources without one: their fields are told apart by value. */
  readonly schema: Schema | undefined;
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  /** '' or absent for the main resource. */
  readonly subresource?: string | undefined;
  /** Paths that a write through this (sub)resource never owns, e.g. `[['status']]`. */
  readonly resetFields?: readonly (readonly string[])[] | undefined;
  /** Another served version of an object, for managers that wrote in it; undefined when it is not served any more. */
  readonly convert?:
    | ((
        object: ApiObject,
        apiVersion: string,
      ) => { readonly object: ApiObject; readonly schema: Schema | undefined } | undefined)
    | undefined;
}

const BEFORE_FIRST_APPLY = 'before-first-apply';
/** Stands for the manager while its write is settled, so that it cannot meet its own earlier entry. */
const CURRENT_OPERATION = 'current-operation';

export class FieldManager {
  readonly #schema: Schema | undefined;
  readonly #type: SmdType;
  readonly #apiVersion: string;
  readonly #kind: string;
  readonly #subresource: string;
  readonly #updater: Updater;
  readonly #gvk: string;

  constructor(options: FieldManagerOptions) {
    this.#schema = options.schema;
    this.#type = smdTypeOf(options.schema);
    this.#apiVersion = options.group === '' ? options.version : `${options.group}/${options.version}`;
    this.#kind = options.kind;
    this.#subresource = options.subresource ?? '';
    this.#gvk = `${options.group}/${options.version}, Kind=${options.kind}`;
    const ignored = FieldSet.of(...(options.resetFields ?? []).map((path) => path.map(fieldElement)));
    this.#updater = new Updater((object, apiVersion) => {
      if (object.apiVersion === apiVersion) return object;
      const found = options.convert?.(object.value as ApiObject, apiVersion);
      return found === undefined ? undefined : { value: found.object, type: smdTypeOf(found.schema), apiVersion };
    }, ignored);
  }

  /**
   * The object of a create, update or patch with its managedFields brought up to date. Never fails: what cannot be tracked loses its
   * managedFields, as upstream.
   *
   * @param live The stored object, undefined on create.
   * @param manager From the request's `fieldManager`, else from its user agent.
   * @param nowIso RFC 3339, whole seconds.
   */
  update(live: ApiObject | undefined, next: ApiObject, manager: string, nowIso: string): ApiObject {
    const bare = withManagedFields(next, undefined);
    try {
      const managed = this.#decodeLiveOrNew(live, next);
      const tracked = managed.fields.size > 0 || uidOf(live) === '';
      if (tracked) this.#trackUpdate(live, bare, managed, manager, nowIso);
      return withManagedFields(bare, encodeManagedFields(managed));
    } catch (error) {
      if (error instanceof SmdError || error instanceof ManagedFieldsError) return bare;
      throw error;
    }
  }

  /**
   * The live object with an applied configuration merged in, and its managedFields. Without a change only managedFields can differ.
   * The result is normalised but not defaulted.
   *
   * @param live The stored object, undefined when the apply creates.
   * @throws StatusError 409 with one cause per field in conflict; 400 for a wrong kind or own managedFields; 500 for a
   * configuration that does not fit its type.
   */
  apply(live: ApiObject | undefined, patch: ApiObject, manager: string, force: boolean, nowIso: string): ApiObject {
    this.#checkPatch(patch);
    const current = live ?? this.#emptyObject();
    const managed = this.#decodeLive(current);
    const bareLive = withManagedFields(current, undefined);
    if (managed.fields.size === 0) this.#trackUpdate(undefined, bareLive, managed, BEFORE_FIRST_APPLY, nowIso);
    const next = this.#applyMigrating(bareLive, patch, managed, manager, force, nowIso);
    const synced = manager === KUBECTL_MANAGER ? withLastApplied(next, patch) : next;
    return withManagedFields(synced, encodeManagedFields(managed));
  }

  #checkPatch(patch: ApiObject): void {
    if (patch.apiVersion !== this.#apiVersion || patch.kind !== this.#kind) {
      throw newBadRequest(`invalid object type: ${printKind(patch)}`);
    }
    const { managedFields } = (patch.metadata ?? {}) as ApiObject['metadata'];
    if (managedFields !== undefined && managedFields !== null) {
      throw newBadRequest('metadata.managedFields must be nil');
    }
  }

  /** As {@link #applyOnce}; kubectl may take over what its client-side apply set. */
  #applyMigrating(
    live: ApiObject,
    patch: ApiObject,
    managed: Managed,
    manager: string,
    force: boolean,
    nowIso: string,
  ): ApiObject {
    try {
      return this.#applyOnce(live, patch, managed, manager, force, nowIso);
    } catch (error) {
      if (!(error instanceof ConflictsError)) throw error;
      const allowed = manager === KUBECTL_MANAGER ? fieldsOfLastApplied(live, this.#typed(live)) : undefined;
      const left = allowed === undefined ? error.conflicts : error.conflicts.filter(({ path }) => !allowed.has(path));
      if (left.length > 0) throw conflictStatus(left);
      return this.#applyOnce(live, patch, managed, manager, true, nowIso);
    }
  }

  #applyOnce(
    live: ApiObject,
    patch: ApiObject,
    managed: Managed,
    manager: string,
    force: boolean,
    nowIso: string,
  ): ApiObject {
    const identifier = this.#identifier(manager, 'Apply');
    const config: TypedObject = { value: patch, type: this.#type, apiVersion: this.#apiVersion };
    const typedLive = this.#typed(live);
    this.#validate(config, false, 'failed to create typed patch object');
    this.#validate(typedLive, true, 'failed to create typed live object');
    const { value, managers } = this.#settleApply(typedLive, config, managed.fields, identifier, force);
    replaceAll(managed.fields, managers);
    stripMeta(managed.fields, identifier);
    if (value === undefined) return live;
    managed.times.set(identifier, nowIso);
    return normalizeUnstored(value as ApiObject, this.#schema);
  }

  #settleApply(
    live: TypedObject,
    config: TypedObject,
    managers: ReadonlyMap<string, VersionedSet>,
    identifier: string,
    force: boolean,
  ): ReturnType<Updater['apply']> {
    try {
      return this.#updater.apply(live, config, new Map(managers), identifier, force);
    } catch (error) {
      if (error instanceof VersionError) throw newUnknownError(error.message);
      if (error instanceof SmdError) throw newUnknownError(`failed to merge config: ${error.message}`);
      throw error;
    }
  }

  /** Changes `managed` to what holds after the write. */
  #trackUpdate(live: ApiObject | undefined, next: ApiObject, managed: Managed, manager: string, nowIso: string): void {
    const before = this.#typed(live === undefined ? this.#emptyObject() : withManagedFields(live, undefined));
    const after = this.#typed(next);
    validateTyped(after.value, after.type, true);
    validateTyped(before.value, before.type, true);
    const fields = this.#updater.update(before, after, new Map(managed.fields), CURRENT_OPERATION);
    stripMeta(fields, CURRENT_OPERATION);
    const changed = fields.get(CURRENT_OPERATION);
    if (changed !== undefined) {
      const identifier = this.#identifier(manager, 'Update');
      const earlier = fields.get(identifier);
      fields.delete(CURRENT_OPERATION);
      fields.set(identifier, this.#joined(changed, earlier, managed.fields.get(identifier)));
      managed.times.set(identifier, nowIso);
    }
    replaceAll(managed.fields, fields);
    capUpdateManagers(managed);
  }

  /** The very set from before when only values changed, so that what was made of it is still good. */
  #joined(changed: VersionedSet, earlier: VersionedSet | undefined, before: VersionedSet | undefined): VersionedSet {
    const set = earlier === undefined ? changed.set : changed.set.union(earlier.set);
    return { ...changed, set: before?.set.equals(set) === true ? before.set : set };
  }

  #decodeLiveOrNew(live: ApiObject | undefined, next: ApiObject): Managed {
    // A subresource cannot change who owns what by sending it.
    if (this.#subresource !== '') return this.#lenient(live);
    const sent = next.metadata.managedFields;
    if (isResetManagedFields(sent)) return emptyManaged();
    try {
      const managed = decodeManagedFields(sent, live?.metadata.managedFields);
      if (managed.fields.size > 0) return managed;
    } catch (error) {
      if (!(error instanceof ManagedFieldsError)) throw error;
    }
    // Clients that do not know managedFields must not lose them.
    return this.#lenient(live);
  }

  #lenient(live: ApiObject | undefined): Managed {
    try {
      return decodeManagedFields(live?.metadata.managedFields);
    } catch (error) {
      if (error instanceof ManagedFieldsError) return emptyManaged();
      throw error;
    }
  }

  #decodeLive(live: ApiObject): Managed {
    try {
      return decodeManagedFields(live.metadata.managedFields);
    } catch (error) {
      if (!(error instanceof ManagedFieldsError)) throw error;
      throw newUnknownError(`failed to decode managed fields: ${error.message}`);
    }
  }

  #identifier(manager: string, operation: 'Apply' | 'Update'): string {
    return managerIdentifier({
      manager: manager === '' ? 'unknown' : manager,
      operation,
      apiVersion: this.#apiVersion,
      subresource: this.#subresource,
    });
  }

  #emptyObject(): ApiObject {
    const empty = { apiVersion: this.#apiVersion, kind: this.#kind, metadata: {} };
    return normalizeUnstored(empty, this.#schema);
  }

  /** Normalised first: what Go would not write must not look like a change. */
  #typed(object: ApiObject): TypedObject {
    return { value: normalizeUnstored(object, this.#schema), type: this.#type, apiVersion: this.#apiVersion };
  }

  #validate({ value, type }: TypedObject, allowDuplicates: boolean, problem: string): void {
    try {
      validateTyped(value, type, allowDuplicates);
    } catch (error) {
      if (!(error instanceof SmdError)) throw error;
      const { namespace, name } = (value as ApiObject).metadata ?? {};
      const shown = `${textOf(namespace)}/${textOf(name)}`;
      throw newUnknownError(`${problem} (${shown}; ${this.#gvk}): ${error.message}`);
    }
  }
}

function uidOf(object: ApiObject | undefined): string {
  return object?.metadata.uid ?? '';
}

/** A field of a configuration nobody has checked yet. */
const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');

function printKind({ apiVersion, kind }: ApiObject): string {
  const parsed = parseGroupVersion(textOf(apiVersion));
  return `${parsed?.group ?? ''}/${parsed?.version ?? ''}, Kind=${textOf(kind)}`;
}

function withManagedFields(object: ApiObject, managedFields: ApiObject['metadata']['managedFields']): ApiObject {
  const { managedFields: _, ...metadata } = object.metadata;
  return { ...object, metadata: managedFields === undefined ? metadata : { ...metadata, managedFields } };
}

function replaceAll<K, V>(target: Map<K, V>, source: ReadonlyMap<K, V>): void {
  target.clear();
  for (const [key, value] of source) target.set(key, value);
}
