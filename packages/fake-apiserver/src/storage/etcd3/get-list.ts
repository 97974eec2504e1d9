// Lists from etcd: which revision they read, pages that are filled behind selectors, continue tokens.
// Upstream: apiserver@v0.30.3:pkg/storage/etcd3/store.go#GetList, #resolveGetListRev
import { newBadRequest, newTooLargeResourceVersion, newUnknownError, StatusError } from '@kube-rx/apimachinery';
import { prefixEnd, type RangeResponse, type Revision } from '../../etcd/client.ts';
import { isEtcdError } from '../../etcd/errors.ts';
import { canonicalResourceVersion, formatResourceVersion, parseResourceVersion } from '../api-object-versioner.ts';
import { type ContinueToken, decodeContinue, encodeContinue } from '../continue.ts';
import type { StorageList, StorageListOptions } from '../interfaces.ts';
import { prepareKey, preparePrefix } from '../keys.ts';
import { matchesObject, predicateIsEmpty } from '../selection-predicate.ts';
import type { StoredObject } from '../stored-object.ts';
import { interpretListError } from './errors.ts';
import type { StoreContext } from './store-context.ts';

const MAX_RANGE = 10_000;

export async function getList(ctx: StoreContext, key: string, options: StorageListOptions): Promise<StorageList> {
  const { predicate, recursive = true } = options;
  ctx.listCounters.total.inc();
  if (!recursive) return getSingle(ctx, prepareKey(key), options);
  const prefix = preparePrefix(key);
  const token = predicate.continue === '' ? undefined : readToken(predicate.continue, prefix);
  let revision = resolveRevision(options, token);
  const paging = predicate.limit > 0;
  let limit = predicate.limit;
  let from = token?.key ?? prefix;
  let lastKey = '';
  const items: StoredObject[] = [];
  for (;;) {
    const page = await readPage(ctx, { from, prefix, limit, revision, token, options });
    ctx.listCounters.fetched.inc(page.kvs.length);
    checkMinimum(options.resourceVersion, page.revision, 0);
    // All further pages read what the first one read.
    if (revision === 0) revision = page.revision;
    let more = page.more;
    for (const kv of page.kvs) {
      if (paging && items.length >= predicate.limit) {
        more = true;
        break;
      }
      lastKey = kv.key;
      const stored = ctx.decoder.decode(kv);
      ctx.listCounters.evaluated.inc();
      if (matchesObject(predicate, stored.object)) items.push(stored);
    }
    if (more && paging && items.length < predicate.limit) {
      limit = Math.min(limit * 2, MAX_RANGE);
      from = `${lastKey}\0`;
      continue;
    }
    ctx.listCounters.returned.inc(items.length);
    return {
      items,
      resourceVersion: formatResourceVersion(revision),
      continue: more ? encodeContinue(`${lastKey}\0`, prefix, revision) : '',
      // The count knows nothing of selectors.
      ...(more && predicateIsEmpty(predicate) ? { remainingItemCount: page.count - predicate.limit } : {}),
    };
  }
}

interface PageRequest {
  readonly from: string;
  readonly prefix: string;
  readonly limit: number;
  readonly revision: Revision;
  readonly token: ContinueToken | undefined;
  readonly options: StorageListOptions;
}

async function readPage(ctx: StoreContext, request: PageRequest): Promise<RangeResponse> {
  const { from, prefix, limit, revision, token, options } = request;
  try {
    const range = { key: from, rangeEnd: prefixEnd(prefix), limit, revision };
    return await ctx.measure('list', ctx.etcd.range(range, options.signal));
  } catch (error) {
    throw (await futureExact(ctx, error, options)) ?? interpretListError(error, { continueKey: token?.key, prefix });
  }
}

async function getSingle(ctx: StoreContext, key: string, options: StorageListOptions): Promise<StorageList> {
  const { predicate } = options;
  const asked = resolveRevision({ ...options, recursive: false }, undefined);
  let answer: RangeResponse;
  try {
    answer = await ctx.measure('get', ctx.etcd.range({ key, revision: asked }, options.signal));
  } catch (error) {
    throw (
      (await futureExact(ctx, error, options)) ?? interpretListError(error, { continueKey: undefined, prefix: key })
    );
  }
  checkMinimum(options.resourceVersion, answer.revision, 0);
  const items: StoredObject[] = [];
  for (const kv of answer.kvs) {
    ctx.listCounters.fetched.inc();
    ctx.listCounters.evaluated.inc();
    const stored = ctx.decoder.decode(kv);
    if (matchesObject(predicate, stored.object)) items.push(stored);
  }
  ctx.listCounters.returned.inc(items.length);
  return { items, resourceVersion: formatResourceVersion(asked === 0 ? answer.revision : asked), continue: '' };
}

/** Newer servers answer an exact list of the future like any other wish for the future. */
async function futureExact(ctx: StoreContext, error: unknown, options: StorageListOptions): Promise<unknown> {
  if (!ctx.profile.behaviours.futureExactIsTooLarge || !isEtcdError(error, 'FutureRev')) return undefined;
  const { revision } = await ctx.etcd.range({ key: ctx.config.resourcePrefix, countOnly: true }, options.signal);
  const asked = canonicalResourceVersion(options.resourceVersion ?? '');
  return newTooLargeResourceVersion(asked, formatResourceVersion(revision), 0);
}

function readToken(token: string, prefix: string): ContinueToken {
  try {
    return decodeContinue(token, prefix);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new StatusError(newBadRequest(`invalid continue token: ${why}`).status, { cause: error });
  }
}

/** The revision to read at; 0 for the latest. */
function resolveRevision(options: StorageListOptions, token: ContinueToken | undefined): Revision {
  const { resourceVersion = '', resourceVersionMatch, predicate, recursive = true } = options;
  if (token !== undefined) {
    if (resourceVersion !== '' && resourceVersion !== '0') {
      throw newBadRequest('specifying resource version is not allowed when using continue');
    }
    return Math.max(token.revision, 0);
  }
  if (resourceVersion === '') return 0;
  const asked = fitsRevision(resourceVersion) ? parseForList(resourceVersion) : 0;
  switch (resourceVersionMatch) {
    case 'Exact':
      return asked;
    case 'NotOlderThan':
      return 0;
    case undefined:
      // Older than the match parameter: a limit makes the version exact.
      return recursive && predicate.limit > 0 ? asked : 0;
    default:
      throw newUnknownError(`unknown ResourceVersionMatch value: ${String(resourceVersionMatch)}`);
  }
}

const MAX_REVISION = 2n ** 63n - 1n;

/** Etcd's revisions have a sign: what is larger comes out negative, which asks for the latest. */
const fitsRevision = (resourceVersion: string): boolean =>
  !/^[0-9]{19,20}$/.test(resourceVersion) || BigInt(resourceVersion) <= MAX_REVISION;

function parseForList(resourceVersion: string): Revision {
  try {
    return parseResourceVersion(resourceVersion);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw newBadRequest(`invalid resource version: ${why}`);
  }
}

/** "Not older than": the answer must have reached what the caller has seen. */
export function checkMinimum(resourceVersion: string | undefined, actual: Revision, retryAfterSeconds: number): void {
  if (resourceVersion === undefined || resourceVersion === '') return;
  if (parseForList(resourceVersion) <= actual) return;
  throw newTooLargeResourceVersion(
    canonicalResourceVersion(resourceVersion),
    formatResourceVersion(actual),
    retryAfterSeconds,
  );
}
