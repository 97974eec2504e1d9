// Optimistic update: read, change, write if nobody was faster, else start over.
// Upstream: apiserver@v0.30.3:pkg/storage/etcd3/store.go#GuaranteedUpdate
import type { TxnRequest, TxnResponse } from '../../etcd/client.ts';
import type { GuaranteedUpdateOptions, UpdateResult } from '../interfaces.ts';
import { prepareKey } from '../keys.ts';
import { checkPreconditions } from '../preconditions.ts';
import type { StoredObject } from '../stored-object.ts';
import { interpretError } from './errors.ts';
import { guessedState, type ObjectState, readState, retryOnFreshState, stateOf } from './object-state.ts';
import type { StoreContext } from './store-context.ts';

export type TryUpdate = (existing: StoredObject | undefined) => UpdateResult | Promise<UpdateResult>;

export interface GuaranteedUpdateOutcome {
  readonly stored: StoredObject;
  readonly unchanged: boolean;
}

export async function guaranteedUpdate(
  ctx: StoreContext,
  path: string,
  tryUpdate: TryUpdate,
  options: GuaranteedUpdateOptions,
): Promise<GuaranteedUpdateOutcome> {
  const key = prepareKey(path);
  const { ignoreNotFound = false, preconditions, cachedExistingObject, signal } = options;
  const reading = { ignoreNotFound, signal };
  let state: ObjectState =
    cachedExistingObject === undefined ? await readState(ctx, key, reading) : guessedState(ctx, cachedExistingObject);
  for (;;) {
    let result: UpdateResult;
    try {
      checkPreconditions(key, preconditions, state.stored?.object);
      result = await tryUpdate(state.stored);
    } catch (error) {
      state = await retryOnFreshState(ctx, key, state, error, reading);
      continue;
    }
    const data = ctx.config.codec.encode(result.object);
    if (state.stored !== undefined && data.equals(state.data)) {
      if (!state.current) {
        // A no-op is believed only against what is really stored.
        state = await readState(ctx, key, reading);
        if (!data.equals(state.data)) continue;
      }
      return { stored: state.stored!, unchanged: true };
    }
    const lease = result.ttlSeconds === undefined ? undefined : await ctx.leases.getLease(result.ttlSeconds);
    ctx.decoder.writing(result.object, data);
    const answer = await put(ctx, { key, data, lease, revision: state.revision, signal });
    if (answer.succeeded) {
      return { stored: ctx.decoder.written(key, result.object, answer.revision, data), unchanged: false };
    }
    const read = answer.responses[0];
    state = stateOf(ctx, key, read?.op === 'range' ? read.kvs[0] : undefined, ignoreNotFound);
  }
}

interface PutRequest {
  readonly key: string;
  readonly data: Buffer;
  readonly lease: string | undefined;
  readonly revision: number;
  readonly signal: AbortSignal | undefined;
}

async function put(ctx: StoreContext, { key, data, lease, revision, signal }: PutRequest): Promise<TxnResponse> {
  try {
    const request: TxnRequest = {
      compare: [{ key, target: 'modRevision', equals: revision }],
      success: [{ op: 'put', key, value: data, lease }],
      failure: [{ op: 'range', key }],
    };
    return await ctx.measure('update', ctx.etcd.txn(request, signal));
  } catch (error) {
    throw interpretError(error);
  }
}
