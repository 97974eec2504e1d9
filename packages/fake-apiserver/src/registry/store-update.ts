// Update, and everything that is one underneath: patch, apply, status.
// Upstream: apiserver@v0.30.3:pkg/registry/generic/registry/store.go#Store.Update
import { newConflict, newInvalid, newNotFound } from '@kube-rx/apimachinery';
import type { AdmissionAttributes } from '../admission/admission.ts';
import type { ApiObject } from '../storage/api-object.ts';
import { StorageError } from '../storage/errors.ts';
import type { UpdateResult } from '../storage/interfaces.ts';
import type { StoredObject } from '../storage/stored-object.ts';
import { beforeCreate, fillSystemFields, wipeSystemFields } from './before-create.ts';
import { shouldDeleteDuringUpdate } from './before-delete.ts';
import { beforeUpdate } from './before-update.ts';
import { type Draft, put, str } from './draft.ts';
import { interpretCreateError, interpretUpdateError, OPTIMISTIC_LOCK, parseObjectVersion } from './errors.ts';
import { asDraft, unstored, withResourceVersion } from './resource-core.ts';
import type { RequestContext, UpdateCall, WriteResult } from './rest.ts';
import { deleteWithoutFinalizers } from './store-delete.ts';
import { formatTime } from './time-form.ts';
import { FieldErrors, go, path } from './validation/field-errors.ts';
import { metadata } from './validation/object-meta.ts';
import type { VerbTarget } from './verb-target.ts';

/** Leaves the storage loop when the update emptied the finalizers of an object that is being deleted. */
class EmptiedFinalizers {
  readonly object: Draft;
  constructor(object: Draft) {
    this.object = object;
  }
}

export async function updateObject(store: VerbTarget, ctx: RequestContext, call: UpdateCall): Promise<WriteResult> {
  const key = store.keyOf(call.namespace, call.name);
  const attempt = new UpdateAttempt(store, ctx, call);
  let written = false;
  try {
    if (call.dryRun) return await dryRunUpdate(store, ctx, call, key, attempt);
    const { stored } = await store.core.storage.guaranteedUpdate(key, (existing) => attempt.next(existing), {
      ignoreNotFound: true,
      preconditions: call.preconditions,
      signal: ctx.signal,
    });
    written = true;
    return { stored: store.show(stored), created: attempt.creating };
  } catch (error) {
    if (error instanceof EmptiedFinalizers) {
      const stored = await deleteWithoutFinalizers(store, ctx, call, key, error.object);
      return { stored: store.show(stored), created: false };
    }
    const interpret = attempt.creating ? interpretCreateError : interpretUpdateError;
    throw interpret(error, store.qualified, call.name);
  } finally {
    attempt.finish(written);
  }
}

async function dryRunUpdate(
  store: VerbTarget,
  ctx: RequestContext,
  call: UpdateCall,
  key: string,
  attempt: UpdateAttempt,
): Promise<WriteResult> {
  const existing = await store.core.storage.get(key, { signal: ctx.signal }).catch((error: unknown) => {
    if (error instanceof StorageError && error.code === 'KeyNotFound') return undefined;
    throw error;
  });
  if (existing !== undefined) checkPreconditions(key, existing.object, call);
  const { object } = await attempt.next(existing);
  const version = existing?.object.metadata.resourceVersion;
  const draft = object as unknown as Draft;
  const stored = unstored(key, version === undefined ? draft : withResourceVersion(draft, version));
  return { stored: store.show(stored), created: attempt.creating };
}

function checkPreconditions(key: string, existing: ApiObject, call: UpdateCall): void {
  const { uid, resourceVersion } = call.preconditions ?? {};
  const meta = existing.metadata;
  const fail = (what: string, wanted: string, found: string): never => {
    const additionalMessage = `Precondition failed: ${what} in precondition: ${wanted}, ${what} in object meta: ${found}`;
    throw new StorageError({ code: 'InvalidObj', key, additionalMessage });
  };
  if (uid !== undefined && uid !== meta.uid) fail('UID', uid, meta.uid ?? '');
  if (resourceVersion !== undefined && resourceVersion !== meta.resourceVersion)
    fail('ResourceVersion', resourceVersion, meta.resourceVersion ?? '');
}

/** The body of the storage loop; each call starts over from what is stored now. */
class UpdateAttempt {
  readonly #store: VerbTarget;
  readonly #ctx: RequestContext;
  readonly #call: UpdateCall;
  #finish: ((written: boolean) => void) | undefined;
  creating = false;

  constructor(store: VerbTarget, ctx: RequestContext, call: UpdateCall) {
    this.#store = store;
    this.#ctx = ctx;
    this.#call = call;
  }

  /** Settles what the last attempt claimed. */
  finish(written: boolean): void {
    this.#finish?.(written);
    this.#finish = undefined;
  }

  async next(existing: StoredObject | undefined): Promise<UpdateResult> {
    this.finish(false);
    const { strategy } = this.#store.core;
    const mayCreate = strategy.allowCreateOnUpdate === true || this.#call.forceAllowCreate;
    if (existing === undefined && (!mayCreate || this.#call.subresource !== ''))
      throw newNotFound(this.#store.qualified, this.#call.name);
    const shown = existing === undefined ? undefined : this.#store.show(existing).object;
    const asked = await this.#call.transform(shown);
    const { view } = this.#store;
    const draft = view.toStorage(view.withDefaults(asked));
    const object = existing === undefined ? await this.#create(draft) : await this.#update(draft, existing);
    const ttlSeconds = strategy.ttlSeconds?.(object);
    return ttlSeconds === undefined ? { object } : { object, ttlSeconds };
  }

  async #create(draft: Draft): Promise<ApiObject> {
    this.creating = true;
    const { core, qualified } = this.#store;
    const uid = this.#call.preconditions?.uid;
    if (uid !== undefined && uid !== '') {
      throw newConflict(
        qualified,
        this.#call.name,
        `uid mismatch: the provided object specified uid ${uid}, and no existing object was found`,
      );
    }
    const attributes = this.#store.admissionAttributes(this.#ctx, this.#call, this.#call.name);
    await core.admission.admit({ ...attributes, operation: 'CREATE', object: draft, old: undefined });
    wipeSystemFields(draft);
    fillSystemFields(draft, formatTime(core.clock.now()), core.random);
    const context = this.#store.contextOf(this.#ctx, this.#call, this.#call.name);
    this.#finish = core.strategy.begin?.(draft, undefined, context);
    beforeCreate(core.strategy, core.kind, draft, context);
    await core.admission.validate({ ...attributes, operation: 'CREATE', object: draft, old: undefined });
    delete metadata(draft)['resourceVersion'];
    return core.canonical(draft);
  }

  async #update(draft: Draft, existing: StoredObject): Promise<ApiObject> {
    this.creating = false;
    const { core } = this.#store;
    this.#lock(draft, existing.object);
    const { subresource, name } = this.#call;
    const attributes = this.#updateAttributes(draft, existing.object);
    await core.admission.admit(attributes);
    const context = this.#store.contextOf(this.#ctx, this.#call, name, subresource);
    const old = asDraft(existing.object);
    this.#finish = core.strategy.begin?.(draft, existing.object, context);
    beforeUpdate({ strategy: core.strategy, kind: core.kind, object: draft, old }, context);
    // The draft in them is the one that was just prepared, but a view of it must be taken anew.
    const prepared = this.#call.admittedAs === undefined ? attributes : this.#updateAttributes(draft, existing.object);
    await core.admission.validate(prepared);
    if (shouldDeleteDuringUpdate(draft, existing.object) && core.strategy.keptDuringUpdate?.(draft) !== true) {
      const object = core.canonical(draft) as unknown as Draft;
      throw new EmptiedFinalizers(withResourceVersion(object, existing.object.metadata.resourceVersion ?? ''));
    }
    return core.canonical(draft);
  }

  #updateAttributes(object: Draft, old: ApiObject): AdmissionAttributes {
    const { admittedAs, name, subresource } = this.#call;
    const operation = 'UPDATE';
    if (admittedAs === undefined)
      return { ...this.#store.admissionAttributes(this.#ctx, this.#call, name, subresource), operation, object, old };
    const { group, version, kind, name: own } = admittedAs.subresource;
    const base = this.#store.admissionAttributes(this.#ctx, this.#call, name, own);
    const shown = admittedAs.show(object as unknown as ApiObject) as unknown as Draft;
    return { ...base, kind: { group, version, kind }, operation, object: shown, old: admittedAs.show(old) };
  }

  /** The optimistic lock: a version in the object must be the stored one. */
  #lock(draft: Draft, existing: ApiObject): void {
    const { strategy } = this.#store.core;
    const meta = metadata(draft);
    const version = parseObjectVersion(str(meta, 'resourceVersion'));
    const current = existing.metadata.resourceVersion ?? '';
    if (version === 0 && strategy.allowUnconditionalUpdate !== false) {
      put(meta, 'resourceVersion', current);
      return;
    }
    const { group, resource } = this.#store.info;
    if (version === 0) {
      const errors = new FieldErrors();
      errors.invalid(path('metadata', 'resourceVersion'), go('0x0'), 'must be specified for an update');
      throw newInvalid({ group, kind: resource }, this.#call.name, errors.causes);
    }
    if (version !== Number(current)) throw newConflict(this.#store.qualified, this.#call.name, OPTIMISTIC_LOCK);
    put(meta, 'resourceVersion', current);
  }
}
