// Optimistic delete: preconditions and validation hold on the state that is really deleted.
// Upstream: apiserver@v0.30.3:pkg/storage/etcd3/store.go#conditionalDelete
import type { TxnRequest } from '../../etcd/client.ts';
import type { StorageDeleteOptions } from '../interfaces.ts';
import { prepareKey } from '../keys.ts';
import { checkPreconditions } from '../preconditions.ts';
import type { StoredObject } from '../stored-object.ts';
import { interpretError } from './errors.ts';
import { guessedState, type ObjectState, readState, retryOnFreshState, stateOf } from './object-state.ts';
import type { StoreContext } from './store-context.ts';

export async function conditionalDelete(
  ctx: StoreContext,
  path: string,
  options: StorageDeleteOptions,
): Promise<StoredObject> {
  const key = prepareKey(path);
  const { preconditions, validateDeletion, cachedExistingObject, signal } = options;
  const reading = { ignoreNotFound: false, signal };
  let state: ObjectState =
    cachedExistingObject === undefined ? await readState(ctx, key, reading) : guessedState(ctx, cachedExistingObject);
  for (;;) {
    try {
      checkPreconditions(key, preconditions, state.stored?.object);
      await validateDeletion?.(state.stored!);
    } catch (error) {
      state = await retryOnFreshState(ctx, key, state, error, reading);
      continue;
    }
    const request: TxnRequest = {
      compare: [{ key, target: 'modRevision', equals: state.revision }],
      success: [{ op: 'delete', key }],
      failure: [{ op: 'range', key }],
    };
    const answer = await ctx.measure('delete', ctx.etcd.txn(request, signal)).catch((error: unknown) => {
      throw interpretError(error);
    });
    if (answer.succeeded) return ctx.decoder.deletedForm(state.stored!, answer.revision);
    const read = answer.responses[0];
    state = stateOf(ctx, key, read?.op === 'range' ? read.kvs[0] : undefined, false);
  }
}
