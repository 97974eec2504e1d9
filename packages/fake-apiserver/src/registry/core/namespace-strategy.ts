// Namespaces: born with a finalizer in their spec, emptied before they go.
// Upstream: kubernetes@v1.30.3:pkg/registry/core/namespace/strategy.go, storage/storage.go
import { isQualifiedName, newConflict } from '@kube-rx/apimachinery';
import type { ApiObject } from '../../storage/api-object.ts';
import { StorageError } from '../../storage/errors.ts';
import type { StoredObject } from '../../storage/stored-object.ts';
import { deletionFinalizers, validateDeleteOptions } from '../before-delete.ts';
import { assign, type Draft, dict, ensure, has, list, put, str, strings } from '../draft.ts';
import { interpretGetError, interpretUpdateError } from '../errors.ts';
import { asDraft, unstored } from '../resource-core.ts';
import type { DeleteCall, DeleteResult, RequestContext } from '../rest.ts';
import { Store } from '../store.ts';
import { deleteObject, isDryRun } from '../store-delete.ts';
import type { Strategy } from '../strategy.ts';
import { keep, statusResetFields } from '../strategy-parts.ts';
import { formatTime } from '../time-form.ts';
import { type FieldErrors, path } from '../validation/field-errors.ts';
import { metadata, nameIsDnsLabel } from '../validation/object-meta.ts';

const FINALIZER = 'kubernetes';

function validateFinalizerNames(names: readonly string[], errors: FieldErrors): void {
  names.forEach((name) => {
    const at = path('spec', 'finalizers');
    for (const text of isQualifiedName(name)) errors.invalid(at, name, text);
    if (!name.includes('/') && ![FINALIZER, 'orphan', 'foregroundDeletion'].includes(name))
      errors.invalid(at, name, 'name is neither a standard finalizer name nor is it fully qualified');
  });
}

export const namespaceStrategy: Strategy = {
  namespaced: false,
  name: nameIsDnsLabel,
  returnDeletedObject: true,
  keptDuringUpdate: (object) => list(dict(object, 'spec'), 'finalizers').length > 0,
  resetFields: { ...statusResetFields(), finalize: [['status']] },
  fieldLabels: new Map([
    ['status.phase', 'status.phase'],
    ['metadata.name', 'metadata.name'],
  ]),
  selectableFields: (object: ApiObject) => ({
    'status.phase': str(dict(object as unknown as Draft, 'status'), 'phase'),
    name: object.metadata.name ?? '',
  }),
  prepareForCreate(object) {
    put(object, 'status', { phase: 'Active' });
    const spec = ensure(object, 'spec');
    const names = strings(spec, 'finalizers');
    if (!names.includes(FINALIZER)) put(spec, 'finalizers', [...names, FINALIZER]);
  },
  validateCreate(object, errors) {
    validateFinalizerNames(strings(dict(object, 'spec'), 'finalizers'), errors);
  },
  prepareForUpdate(object, old) {
    keep(object, old, 'spec', 'status');
  },
  canonicalize(object) {
    // Decoding sets the label too, but knows no generated name yet.
    const meta = metadata(object);
    put(ensure(meta, 'labels'), 'kubernetes.io/metadata.name', str(meta, 'name'));
  },
  subresources: {
    status: {
      prepareForUpdate(object, old) {
        keep(object, old, 'spec');
      },
      validateUpdate(object, _old, errors) {
        const terminating = has(metadata(object), 'deletionTimestamp');
        const phase = str(dict(object, 'status'), 'phase');
        if (!terminating && phase !== 'Active')
          errors.invalid(path('status', 'Phase'), phase, "may only be 'Active' if `deletionTimestamp` is empty");
        if (terminating && phase !== 'Terminating')
          errors.invalid(
            path('status', 'Phase'),
            phase,
            "may only be 'Terminating' if `deletionTimestamp` is not empty",
          );
      },
    },
    finalize: {
      prepareForUpdate(object, old) {
        keep(object, old, 'status');
      },
      validateUpdate(object, old, errors) {
        const names = strings(dict(object, 'spec'), 'finalizers');
        validateFinalizerNames(names, errors);
        keep(object, old, 'status');
      },
    },
  },
};

/** Deletes in two steps: marked Terminating first, removed when its spec has no finalizers left. */
export class NamespaceStore extends Store {
  /** Told of every namespace whose deletion was asked for. */
  onTerminating: ((name: string) => void) | undefined;

  override async delete(ctx: RequestContext, call: DeleteCall): Promise<DeleteResult> {
    const key = this.keyOf('', call.name);
    let existing: StoredObject;
    try {
      existing = await this.core.storage.get(key, { signal: ctx.signal });
    } catch (error) {
      throw interpretGetError(error, this.qualified, call.name);
    }
    validateDeleteOptions(call.options);
    this.#checkPreconditions(existing, call);
    const finalizers = list(dict(existing.object as unknown as Draft, 'spec'), 'finalizers');
    if (existing.object.metadata.deletionTimestamp === undefined) return this.#mark(ctx, call, key, existing);
    if (finalizers.length > 0) return { stored: existing, deleted: false, returnDeletedObject: true };
    return deleteObject(this, ctx, call);
  }

  #checkPreconditions(existing: StoredObject, call: DeleteCall): void {
    const { uid, resourceVersion } = call.options.preconditions ?? {};
    const meta = existing.object.metadata;
    const refuse = (why: string): never => {
      throw newConflict({ group: '', resource: 'namespaces' }, call.name, why);
    };
    if (uid !== undefined && uid !== meta.uid)
      refuse(`Precondition failed: UID in precondition: ${uid}, UID in object meta: ${meta.uid}`);
    if (resourceVersion !== undefined && resourceVersion !== meta.resourceVersion) {
      refuse(
        `Precondition failed: ResourceVersion in precondition: ${resourceVersion}, ResourceVersion in object meta: ${meta.resourceVersion}`,
      );
    }
  }

  async #mark(ctx: RequestContext, call: DeleteCall, key: string, first: StoredObject): Promise<DeleteResult> {
    const result = (stored: StoredObject): DeleteResult => ({ stored, deleted: false, returnDeletedObject: true });
    const mark = async (existing: StoredObject | undefined): Promise<{ readonly object: ApiObject }> => {
      if (existing === undefined) throw new StorageError({ code: 'KeyNotFound', key });
      const attributes = {
        ...this.admissionAttributes(ctx, { namespace: '', dryRun: isDryRun(call.options) }, call.name),
        operation: 'DELETE' as const,
        object: undefined,
        old: existing.object,
        options: call.options,
      };
      await this.core.admission.admit(attributes);
      await this.core.admission.validate(attributes);
      const draft = asDraft(existing.object);
      this.#markTerminating(draft, call);
      return { object: this.core.canonical(draft) };
    };
    try {
      if (isDryRun(call.options)) {
        const { object } = await mark(first);
        return result(unstored(key, object as unknown as Draft));
      }
      const { stored } = await this.core.storage.guaranteedUpdate(key, mark, {
        preconditions: call.options.preconditions,
        signal: ctx.signal,
      });
      this.onTerminating?.(call.name);
      return result(stored);
    } catch (error) {
      throw interpretUpdateError(error, this.qualified, call.name);
    }
  }

  #markTerminating(draft: Draft, call: DeleteCall): void {
    const meta = metadata(draft);
    if (!has(meta, 'deletionTimestamp')) put(meta, 'deletionTimestamp', formatTime(this.core.clock.now()));
    const status = ensure(draft, 'status');
    if (str(status, 'phase') !== 'Terminating') put(status, 'phase', 'Terminating');
    const { propagationPolicy, orphanDependents } = call.options;
    if (propagationPolicy === undefined && orphanDependents === undefined) return;
    const finalizers = deletionFinalizers(this.core.strategy, draft, call.options);
    if (finalizers !== undefined) assign(meta, 'finalizers', [...finalizers]);
  }
}
