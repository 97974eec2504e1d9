// The choices of the state machine, as data: a profile is a set of them.
import { OptionsError } from '@kube-rx/apimachinery';
import { MAX_RETRY_AFTER_MS } from '../rest/http-status.ts';

/** How the first state is fetched. */
export type InitialMode = 'auto' | 'list' | 'watch-list';

/** What a relist may be served from. */
export type RelistFrom = 'last' | 'any' | 'most-recent';

export type ReflectorProfile = 'modern' | 'client-go-1.30';

export interface ReflectorPolicy {
  /**
   * `list`: in pages; works with every server. `watch-list`: streamed through a watch, with a list when that fails. `auto`: streamed from
   * servers that are known to be able to, listed from all others.
   */
  readonly initial: InitialMode;
  /**
   * `last`: not older than what was seen, so that time never runs backwards. `any`: whatever a server has (rv=0), cheapest for it, may be
   * older than what the cache has already. `most-recent`: a consistent read, dearest for it.
   */
  readonly relistFrom: RelistFrom;
  /** Limit of every LIST, 0 to decide by the resource version. */
  readonly pageSize: number;
  /** Limit where one is decided on. */
  readonly defaultPageSize: number;
  /** The list after "expired" keeps the limit of the list before it, also when that had none. */
  readonly unpagedRetry: boolean;
  /** A watch that cannot be opened because the connection died is tried again without a list. */
  readonly retryLostConnections: boolean;
  /** A stream that lived shorter counts as ended too soon, ms; 0 turns the rule off. */
  readonly earlyCloseMs: number;
  /**
   * After a lost stream, a watch on which nothing came for so long is checked by a list of one object: a server that was restored from a
   * backup keeps watches from its lost future silent. ms; 0 never asks.
   */
  readonly silentProbeMs: number;
  /** Separate growth for connecting and for listing again. */
  readonly separateBackoffs: boolean;
  /** Waits are at least as long as the server asks, but for no more than this, ms; 0 for none. */
  readonly maxRetryAfterMs: number;
  /** Equal refusals (401, 403, 404) in a row until the status says suspended; 0 for never. */
  readonly suspendAfter: number;
  /** How often a suspended reflector tries at most, ms. */
  readonly suspendedProbeMs: number;
  /** The streaming list has time limits and falls back to LIST for a while when it does not keep them. */
  readonly boundedWatchList: boolean;
  /** How long a failed streaming list is not tried again, ms. */
  readonly watchListRetryMs: number;
  /** Stopping cancels a request that waits for its answer; else only closing does, it and its retries run on, and what comes of them is thrown away. */
  readonly stopCancels: boolean;
  /** How long ERROR events of code 500 are answered by an immediate watch, ms. */
  readonly maxInternalErrorRetryMs: number;
}

const MODERN: ReflectorPolicy = {
  initial: 'auto',
  relistFrom: 'last',
  pageSize: 0,
  defaultPageSize: 500,
  unpagedRetry: false,
  retryLostConnections: true,
  earlyCloseMs: 5000,
  silentProbeMs: 90_000,
  separateBackoffs: true,
  maxRetryAfterMs: MAX_RETRY_AFTER_MS,
  suspendAfter: 3,
  suspendedProbeMs: 30_000,
  boundedWatchList: true,
  watchListRetryMs: 600_000,
  stopCancels: true,
  maxInternalErrorRetryMs: 0,
};

const CLIENT_GO_1_30: ReflectorPolicy = {
  ...MODERN,
  initial: 'list',
  unpagedRetry: true,
  retryLostConnections: false,
  earlyCloseMs: 0,
  silentProbeMs: 0,
  separateBackoffs: false,
  maxRetryAfterMs: 0,
  suspendAfter: 0,
  boundedWatchList: false,
  stopCancels: false,
};

export function resolveReflectorPolicy(
  profile: ReflectorProfile,
  overrides: { readonly [K in keyof ReflectorPolicy]?: ReflectorPolicy[K] | undefined } = {},
): ReflectorPolicy {
  const base = profile === 'modern' ? MODERN : CLIENT_GO_1_30;
  const given = Object.fromEntries(Object.entries(overrides).filter(([, value]) => value !== undefined));
  const policy: ReflectorPolicy = { ...base, ...given };
  for (const key of [
    'pageSize',
    'defaultPageSize',
    'earlyCloseMs',
    'silentProbeMs',
    'maxRetryAfterMs',
    'suspendAfter',
    'suspendedProbeMs',
    'watchListRetryMs',
    'maxInternalErrorRetryMs',
  ] as const) {
    if (!Number.isFinite(policy[key]) || policy[key] < 0)
      throw new OptionsError(key, policy[key], 'a number of at least 0');
  }
  if (!['last', 'any', 'most-recent'].includes(policy.relistFrom)) {
    throw new OptionsError('relistFrom', policy.relistFrom, '"last", "any" or "most-recent"');
  }
  if (!['auto', 'list', 'watch-list'].includes(policy.initial))
    throw new OptionsError('initial', policy.initial, '"auto", "list" or "watch-list"');
  return Object.freeze(policy);
}
