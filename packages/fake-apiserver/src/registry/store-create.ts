// Create: from a decoded object to a stored one.
// Upstream: apiserver@v0.30.3:pkg/registry/generic/registry/store.go#Store.Create
import { isAlreadyExists, newGenerateNameConflict, StatusError } from '@kube-rx/apimachinery';
import type { ApiObject } from '../storage/api-object.ts';
import { StorageError } from '../storage/errors.ts';
import type { StoredObject } from '../storage/stored-object.ts';
import { beforeCreate, fillSystemFields } from './before-create.ts';
import { clone, type Draft, str } from './draft.ts';
import { beingDeleted, interpretCreateError, parseObjectVersion, resourceVersionSetOnCreate } from './errors.ts';
import { type AdmissionBase, unstored } from './resource-core.ts';
import type { RequestContext, WriteCall } from './rest.ts';
import { formatTime } from './time-form.ts';
import { metadata } from './validation/object-meta.ts';
import type { VerbTarget } from './verb-target.ts';

/** From a draft in the stored version to a stored object. */
export async function createDraft(
  store: VerbTarget,
  ctx: RequestContext,
  draft: Draft,
  call: WriteCall,
): Promise<StoredObject> {
  const { admission, nameAttempts } = store.core;
  const attributes = store.admissionAttributes(ctx, call, str(metadata(draft), 'name'));
  await admission.admit({ ...attributes, operation: 'CREATE', object: draft, old: undefined });
  for (let left = needsName(draft) ? nameAttempts : 1; left > 1; left--) {
    try {
      return await createOnce(store, ctx, clone(draft), call, attributes);
    } catch (error) {
      if (!(error instanceof StatusError) || !isAlreadyExists(error)) throw error;
    }
  }
  return createOnce(store, ctx, draft, call, attributes);
}

function needsName(draft: Draft): boolean {
  const meta = metadata(draft);
  return str(meta, 'name') === '' && str(meta, 'generateName') !== '';
}

/** One try, with a name and a uid of its own. */
async function createOnce(
  store: VerbTarget,
  ctx: RequestContext,
  draft: Draft,
  call: WriteCall,
  attributes: AdmissionBase,
): Promise<StoredObject> {
  const { admission, strategy, kind, clock, random } = store.core;
  fillSystemFields(draft, formatTime(clock.now()), random);
  const name = str(metadata(draft), 'name');
  const context = store.contextOf(ctx, call, name);
  const finish = strategy.begin?.(draft, undefined, context);
  let written = false;
  try {
    beforeCreate(strategy, kind, draft, context);
    await admission.validate({ ...attributes, name, operation: 'CREATE', object: draft, old: undefined });
    const stored = await insert(store, ctx, draft, call, name);
    written = !call.dryRun;
    return stored;
  } finally {
    finish?.(written);
  }
}

async function insert(
  store: VerbTarget,
  ctx: RequestContext,
  draft: Draft,
  call: WriteCall,
  name: string,
): Promise<StoredObject> {
  const key = store.keyOf(call.namespace, name);
  if (safeVersion(str(metadata(draft), 'resourceVersion')) > 0) throw resourceVersionSetOnCreate();
  delete metadata(draft)['resourceVersion'];
  try {
    return await write(store, key, store.core.canonical(draft), call.dryRun, ctx.signal);
  } catch (error) {
    throw await createFailure(store, error, key, draft);
  }
}

async function write(
  store: VerbTarget,
  key: string,
  object: ApiObject,
  dryRun: boolean,
  signal: AbortSignal,
): Promise<StoredObject> {
  const { storage, strategy } = store.core;
  if (dryRun) {
    const existing = await storage.get(key, { signal }).catch((error: unknown) => {
      if (error instanceof StorageError && error.code === 'KeyNotFound') return undefined;
      throw error;
    });
    if (existing !== undefined) throw new StorageError({ code: 'KeyExists', key });
    return unstored(key, object as unknown as Draft);
  }
  const ttlSeconds = strategy.ttlSeconds?.(object);
  return storage.create(key, object, { ttlSeconds, signal });
}

async function createFailure(store: VerbTarget, error: unknown, key: string, draft: Draft): Promise<unknown> {
  const meta = metadata(draft);
  const failure = interpretCreateError(error, store.qualified, str(meta, 'name'));
  if (!(failure instanceof StatusError) || !isAlreadyExists(failure)) return failure;
  if (str(meta, 'generateName') !== '') {
    return newGenerateNameConflict(
      { group: store.core.kind.group, resource: store.info.resource },
      str(meta, 'name'),
      1,
    );
  }
  try {
    const existing = await store.core.storage.get(key);
    return existing.object.metadata.deletionTimestamp === undefined ? failure : beingDeleted(failure);
  } catch {
    return failure;
  }
}

function safeVersion(text: string): number {
  try {
    return parseObjectVersion(text);
  } catch {
    return 0;
  }
}
