// The store of CustomResourceDefinitions: a delete only marks one, its instances go first.
// Upstream: apiextensions-apiserver@v0.30.3:pkg/registry/customresourcedefinition/etcd.go#REST.Delete
import { newConflict } from '@kube-rx/apimachinery';
import { CLEANUP_FINALIZER, readConditions, withCondition } from '../../apiextensions/crd.ts';
import type { ApiObject } from '../../storage/api-object.ts';
import type { StoredObject } from '../../storage/stored-object.ts';
import { ensure, put, strings } from '../draft.ts';
import { interpretGetError, interpretUpdateError } from '../errors.ts';
import { asDraft, unstored } from '../resource-core.ts';
import type { DeleteCall, DeleteResult, RequestContext } from '../rest.ts';
import { Store } from '../store.ts';
import { formatTime } from '../time-form.ts';

export class CrdStore extends Store {
  override async delete(ctx: RequestContext, call: DeleteCall): Promise<DeleteResult> {
    const existing = await this.#stored(ctx, call.name);
    this.#checkPreconditions(existing.object, call);
    const uid = existing.object.metadata.uid;
    if (existing.object.metadata.deletionTimestamp !== undefined) {
      const preconditions = { uid, ...call.options.preconditions };
      return super.delete(ctx, {
        ...call,
        options: { ...call.options, preconditions: preconditions as { uid: string } },
      });
    }
    const stored = await this.#mark(ctx, call, existing);
    return { stored, deleted: false, returnDeletedObject: false };
  }

  async #stored(ctx: RequestContext, name: string): Promise<StoredObject> {
    try {
      return await this.core.storage.get(this.keyOf('', name), { signal: ctx.signal });
    } catch (error) {
      throw interpretGetError(error, this.qualified, name);
    }
  }

  #checkPreconditions(object: ApiObject, { name, options }: DeleteCall): void {
    const { uid, resourceVersion } = options.preconditions ?? {};
    const { metadata } = object;
    const fail = (what: string, wanted: string, found: string | undefined): never => {
      const why = `Precondition failed: ${what} in precondition: ${wanted}, ${what} in object meta: ${found ?? ''}`;
      throw newConflict(this.qualified, name, why);
    };
    if (uid !== undefined && uid !== metadata.uid) fail('UID', uid, metadata.uid);
    if (resourceVersion !== undefined && resourceVersion !== metadata.resourceVersion) {
      fail('ResourceVersion', resourceVersion, metadata.resourceVersion);
    }
  }

  async #mark(ctx: RequestContext, call: DeleteCall, existing: StoredObject): Promise<StoredObject> {
    const key = this.keyOf('', call.name);
    const dryRun = call.options.dryRun?.includes('All') === true;
    const mark = async (current: ApiObject): Promise<ApiObject> => {
      const attributes = {
        ...this.admissionAttributes(ctx, { namespace: '', dryRun }, call.name),
        operation: 'DELETE' as const,
        object: undefined,
        old: current,
        options: call.options,
      };
      await this.core.admission.admit(attributes);
      await this.core.admission.validate(attributes);
      return this.#marked(current);
    };
    try {
      if (dryRun) return unstored(key, asDraft(await mark(existing.object)));
      const preconditions = { uid: existing.object.metadata.uid, ...call.options.preconditions };
      const { stored } = await this.core.storage.guaranteedUpdate(
        key,
        async (current) => ({ object: await mark(current!.object) }),
        { preconditions, signal: ctx.signal },
      );
      return stored;
    } catch (error) {
      throw interpretUpdateError(error, this.qualified, call.name);
    }
  }

  #marked(object: ApiObject): ApiObject {
    const now = formatTime(this.core.clock.now());
    const draft = asDraft(object);
    const meta = ensure(draft, 'metadata');
    if (object.metadata.deletionTimestamp === undefined) put(meta, 'deletionTimestamp', now);
    const finalizers = strings(meta, 'finalizers');
    if (!finalizers.includes(CLEANUP_FINALIZER)) put(meta, 'finalizers', [...finalizers, CLEANUP_FINALIZER]);
    const status = ensure(draft, 'status');
    const terminating = {
      type: 'Terminating',
      status: 'True',
      reason: 'InstanceDeletionPending',
      message: 'CustomResourceDefinition marked for deletion; CustomResource deletion will begin soon',
    } as const;
    put(status, 'conditions', withCondition(readConditions(status), terminating, now));
    return this.core.canonical(draft);
  }
}
