// Settings of a reflector.
import type { Clock, Logger } from '@kube-rx/apimachinery';
import { OptionsError, realClock, silentLogger } from '@kube-rx/apimachinery';
import type { OnObject } from '../rest/lister-watcher.ts';
import type { BackoffOptions } from './backoff-manager.ts';
import type { Fault } from './informer-status.ts';
import type { ReflectorMetricsProvider } from './reflector-metrics.ts';
import type { InitialMode, ReflectorPolicy, ReflectorProfile, RelistFrom } from './reflector-policy.ts';
import { resolveReflectorPolicy } from './reflector-policy.ts';
import type { ExpectedType } from './watch-handler.ts';

export interface ReflectorOptions {
  /** For logs, faults and metrics. @defaultValue the expected kind */
  readonly name?: string | undefined;
  /** Objects of other kinds in the stream are skipped. @defaultValue all kinds are taken */
  readonly expected?: ExpectedType | undefined;
  /** `modern`: our defaults. `client-go-1.30`: request by request as client-go v0.30.3. @defaultValue `modern` */
  readonly profile?: ReflectorProfile | undefined;
  /** How the first state is fetched, see {@link ReflectorPolicy.initial}. @defaultValue `auto`; `list` in the profile client-go-1.30 */
  readonly initial?: InitialMode | undefined;
  /** What a relist may be served from, see {@link ReflectorPolicy.relistFrom}. @defaultValue `last` */
  readonly relistFrom?: RelistFrom | undefined;
  /** Limit of every LIST; 0 decides by the resource version. @defaultValue 0 */
  readonly pageSize?: number | undefined;
  /** How often the store is asked to deliver its objects again, ms; 0 is never. @defaultValue 0 */
  readonly resyncMs?: number | undefined;
  /** The period at the moment the timer is armed; wins over `resyncMs`. @defaultValue `resyncMs` */
  readonly resyncPeriodMs?: (() => number) | undefined;
  /** Asked before each resync. @defaultValue yes */
  readonly shouldResync?: (() => boolean) | undefined;
  /** @defaultValue 800 ms to 30 s, doubled, jitter 1, reset after 2 min */
  readonly backoff?: Omit<BackoffOptions, 'random'> | undefined;
  /** The server is asked to end each watch after this plus a random part of it, ms, at least 1 s. @defaultValue 300 000 */
  readonly minWatchTimeoutMs?: number | undefined;
  /**
   * A stream on which no byte came for so long is dropped and opened anew; 0 is never. @defaultValue 180 000 once a bookmark came,
   * else the watch timeout plus 30 s; off in the profile client-go-1.30
   */
  readonly idleTimeoutMs?: number | undefined;
  /**
   * `watch-list`: compares each streamed list with an exact LIST of the same version, and reports a fault of kind `inconsistent`. Dear: for
   * tests and doubts. @defaultValue nothing is compared
   */
  readonly verify?: 'watch-list' | undefined;
  /** Longest silence during a streaming list, ms. @defaultValue 10 000 */
  readonly initialEventsIdleMs?: number | undefined;
  /** Longest streaming list, ms. @defaultValue 120 000 */
  readonly initialEventsTimeoutMs?: number | undefined;
  /** Other choices of the state machine, see {@link ReflectorPolicy}. */
  readonly policy?: Partial<ReflectorPolicy> | undefined;
  /** Called for errors that end a list-and-watch cycle, as client-go's watch error handler. Must not throw. */
  readonly onWatchError?: ((error: Error) => void) | undefined;
  /** Called for every fault. Must not throw. */
  readonly onFault?: ((fault: Fault) => void) | undefined;
  /** Called for each object as soon as it is decoded; may change it in place. Must not throw. */
  readonly onObject?: OnObject | undefined;
  /** @defaultValue none */
  readonly metrics?: ReflectorMetricsProvider | undefined;
  readonly clock?: Clock | undefined;
  /** In [0, 1). @defaultValue Math.random */
  readonly random?: (() => number) | undefined;
  readonly logger?: Logger | undefined;
  /** Timers do not keep the process alive. @defaultValue false */
  readonly unref?: boolean | undefined;
}

export interface ResolvedReflectorOptions {
  readonly name: string;
  readonly expected: ExpectedType | undefined;
  readonly profile: ReflectorProfile;
  readonly policy: ReflectorPolicy;
  readonly resyncPeriodMs: () => number;
  readonly shouldResync: () => boolean;
  readonly backoff: BackoffOptions;
  readonly minWatchTimeoutMs: number;
  /** undefined: by the rule. */
  readonly idleTimeoutMs: number | undefined;
  readonly verify: 'watch-list' | undefined;
  readonly initialEventsIdleMs: number;
  readonly initialEventsTimeoutMs: number;
  readonly onWatchError: (error: Error) => void;
  readonly onFault: (fault: Fault) => void;
  readonly onObject: OnObject | undefined;
  readonly metrics: ReflectorMetricsProvider | undefined;
  readonly clock: Clock;
  readonly random: () => number;
  readonly logger: Logger;
  readonly unref: boolean;
}

export function resolveReflectorOptions(options: ReflectorOptions): ResolvedReflectorOptions {
  const profile = options.profile ?? 'modern';
  if (profile !== 'modern' && profile !== 'client-go-1.30') {
    throw new OptionsError('profile', profile, '"modern" or "client-go-1.30"');
  }
  const random = options.random ?? Math.random;
  const resyncMs = atLeast('resyncMs', options.resyncMs ?? 0, 0);
  const minWatchTimeoutMs = atLeast('minWatchTimeoutMs', options.minWatchTimeoutMs ?? 300_000, 1000);
  return Object.freeze({
    name: options.name ?? options.expected?.kind ?? 'objects',
    expected: options.expected,
    profile,
    policy: resolveReflectorPolicy(profile, {
      ...options.policy,
      initial: options.initial ?? options.policy?.initial,
      relistFrom: options.relistFrom ?? options.policy?.relistFrom,
      pageSize: options.pageSize ?? options.policy?.pageSize,
    }),
    resyncPeriodMs: options.resyncPeriodMs ?? (() => resyncMs),
    shouldResync: options.shouldResync ?? (() => true),
    backoff: { ...options.backoff, random },
    minWatchTimeoutMs,
    idleTimeoutMs:
      options.idleTimeoutMs === undefined
        ? profile === 'modern'
          ? undefined
          : 0
        : atLeast('idleTimeoutMs', options.idleTimeoutMs, 0),
    verify: options.verify,
    initialEventsIdleMs: atLeast('initialEventsIdleMs', options.initialEventsIdleMs ?? 10_000, 1),
    initialEventsTimeoutMs: atLeast('initialEventsTimeoutMs', options.initialEventsTimeoutMs ?? 120_000, 1),
    onWatchError: options.onWatchError ?? (() => {}),
    onFault: options.onFault ?? (() => {}),
    onObject: options.onObject,
    metrics: options.metrics,
    clock: options.clock ?? realClock,
    random,
    logger: options.logger ?? silentLogger,
    unref: options.unref ?? false,
  });
}

function atLeast(option: string, value: number, least: number): number {
  if (!Number.isFinite(value) || value < least) throw new OptionsError(option, value, `a number of at least ${least}`);
  return value;
}
