// The state a write starts from, and the loop that gets from a first guess to the truth.
// Upstream: apiserver@v0.30.3:pkg/storage/etcd3/store.go#objState
import type { KeyValue, Revision } from '../../etcd/client.ts';
import { keyNotFound } from '../errors.ts';
import type { StoredObject } from '../stored-object.ts';
import { EtcdStoredObject } from './decode.ts';
import { interpretError } from './errors.ts';
import type { StoreContext } from './store-context.ts';

export interface ObjectState {
  /** Undefined for a missing object. */
  readonly stored: StoredObject | undefined;
  /** 0 for a missing object. */
  readonly revision: Revision;
  readonly data: Buffer;
  /** Read from etcd, not guessed. */
  readonly current: boolean;
}

const NO_DATA = Buffer.alloc(0);

export function stateOf(
  ctx: StoreContext,
  key: string,
  kv: KeyValue | undefined,
  ignoreNotFound: boolean,
): ObjectState {
  if (kv === undefined) {
    if (!ignoreNotFound) throw keyNotFound(key);
    return { stored: undefined, revision: 0, data: NO_DATA, current: true };
  }
  return { stored: ctx.decoder.decode(kv), revision: kv.modRevision, data: kv.value, current: true };
}

export function guessedState(ctx: StoreContext, guess: StoredObject): ObjectState {
  const data = guess instanceof EtcdStoredObject ? guess.data : ctx.config.codec.encode(guess.object);
  return { stored: guess, revision: guess.revision, data, current: false };
}

export interface ReadStateOptions {
  readonly ignoreNotFound: boolean;
  readonly signal: AbortSignal | undefined;
}

export async function readState(ctx: StoreContext, key: string, options: ReadStateOptions): Promise<ObjectState> {
  const answer = await ctx.measure('get', ctx.etcd.range({ key }, options.signal)).catch((error: unknown) => {
    throw interpretError(error);
  });
  return stateOf(ctx, key, answer.kvs[0], options.ignoreNotFound);
}

/**
 * What to do when a step failed on a state: nothing can be done if that state was current; else the fresh state is
 * returned, unless it turns out that the guess was right.
 */
export async function retryOnFreshState(
  ctx: StoreContext,
  key: string,
  failed: ObjectState,
  error: unknown,
  options: ReadStateOptions,
): Promise<ObjectState> {
  if (failed.current) throw error;
  const fresh = await readState(ctx, key, options);
  if (fresh.revision === failed.revision) throw error;
  return fresh;
}
