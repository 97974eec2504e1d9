// Options of the server, their defaults and their check.
import { randomBytes } from 'node:crypto';
import { type Clock, type Logger, OptionsError, realClock, silentLogger, VirtualClock } from '@kube-rx/apimachinery';
import type { EtcdClient } from './etcd/client.ts';
import { type FeatureGates, overrideProfile, type Profile, type WatchCacheConstants } from './profiles/profile.ts';
import { v1_30 } from './profiles/v1-30.ts';
import { v1_37 } from './profiles/v1-37.ts';
import type { UserInfo } from './registry/rest.ts';

export type ProfileName = 'v1.30' | 'v1.37';

export interface FakeApiServerOptions {
  /** Address to listen on. @defaultValue `127.0.0.1` */
  readonly host?: string | undefined;
  /** 0 takes a free one. @defaultValue 0 */
  readonly port?: number | undefined;
  /** False opens no socket: only `fetch` of the server works. @defaultValue true */
  readonly listen?: boolean | undefined;
  /** Plain HTTP instead of TLS. @defaultValue false */
  readonly insecure?: boolean | undefined;
  /** Token of the administrator. @defaultValue a random one */
  readonly token?: string | undefined;
  /** More tokens and whom they stand for. @defaultValue none */
  readonly tokens?: Readonly<Record<string, UserInfo>> | undefined;
  /** Requests without credentials act as `system:anonymous`. @defaultValue true */
  readonly anonymousAuth?: boolean | undefined;
  /** RBAC, or everybody may do everything. @defaultValue `RBAC` */
  readonly authorization?: 'RBAC' | 'AlwaysAllow' | undefined;
  /**
   * Empties namespaces that are being deleted, as the controller manager of a cluster does. A bare API server leaves them
   * terminating. @defaultValue false
   */
  readonly namespaceController?: boolean | undefined;
  /** Kubernetes version that is imitated. @defaultValue `v1.30` */
  readonly profile?: ProfileName | undefined;
  /** Feature gates over those of the profile; names that have no effect here are accepted. @defaultValue none */
  readonly featureGates?: Readonly<Record<string, boolean>> | undefined;
  /** False answers everything from storage. @defaultValue true */
  readonly watchCache?: boolean | undefined;
  /** By `resource` or `resource.group`; 0 turns that cache off. @defaultValue none */
  readonly watchCacheSizes?: Readonly<Record<string, number>> | undefined;
  /** Sizes and times of every watch cache, e.g. a small ring. @defaultValue those of the profile */
  readonly watchCacheConstants?: Partial<WatchCacheConstants> | undefined;
  /** Whether a watch without resource version starts with the initial state, as real servers do. @defaultValue `initial-state` */
  readonly emptyResourceVersionWatch?: 'initial-state' | 'from-now' | undefined;
  /** Keeps the data in this directory. @defaultValue in memory */
  readonly dataDir?: string | undefined;
  /** Another etcd than the embedded one; it stays open. @defaultValue embedded */
  readonly etcd?: EtcdClient | undefined;
  /** Interval of the compactor; 0 turns it off. @defaultValue 300000 */
  readonly etcdCompactionIntervalMs?: number | undefined;
  /** Life of an Event. @defaultValue 3600 */
  readonly eventTtlSeconds?: number | undefined;
  /** Lower bound of watches that name no timeout. @defaultValue 1800000 */
  readonly minRequestTimeoutMs?: number | undefined;
  /** Bound of all other requests. @defaultValue 60000 */
  readonly requestTimeoutMs?: number | undefined;
  /** Chance that an HTTP/2 connection is told to go away, 0 to 0.02. @defaultValue 0 */
  readonly goawayChance?: number | undefined;
  /** How long `close` lets requests finish. @defaultValue 1000 */
  readonly closeGraceMs?: number | undefined;
  /** `virtual` stands still until it is advanced. @defaultValue the machine's clock */
  readonly clock?: Clock | 'virtual' | undefined;
  /** Uniform in [0, 1). @defaultValue the machine's */
  readonly random?: (() => number) | undefined;
  /** @defaultValue silent */
  readonly logger?: Logger | undefined;
}

export interface ResolvedOptions {
  readonly host: string;
  readonly port: number;
  readonly listen: boolean;
  readonly insecure: boolean;
  readonly token: string;
  readonly tokens: ReadonlyMap<string, UserInfo>;
  readonly anonymousAuth: boolean;
  readonly authorization: 'RBAC' | 'AlwaysAllow';
  readonly namespaceController: boolean;
  readonly profileName: ProfileName;
  readonly profile: Profile;
  readonly watchCache: boolean;
  readonly watchCacheSizes: ReadonlyMap<string, number>;
  readonly dataDir: string | undefined;
  readonly etcd: EtcdClient | undefined;
  readonly etcdCompactionIntervalMs: number;
  readonly eventTtlSeconds: number;
  readonly minRequestTimeoutMs: number;
  readonly requestTimeoutMs: number;
  readonly goawayChance: number;
  readonly closeGraceMs: number;
  readonly clock: Clock;
  readonly random: () => number;
  readonly logger: Logger;
}

const PROFILES: Readonly<Record<ProfileName, Profile>> = { 'v1.30': v1_30, 'v1.37': v1_37 };

/** Throws an OptionsError that names the first setting that cannot be used. */
export function resolveOptions(options: FakeApiServerOptions): ResolvedOptions {
  const profileName = oneOf('profile', options.profile ?? 'v1.30', ['v1.30', 'v1.37']);
  const emptyResourceVersionWatch = oneOf(
    'emptyResourceVersionWatch',
    options.emptyResourceVersionWatch ?? PROFILES[profileName].behaviours.emptyResourceVersionWatch,
    ['initial-state', 'from-now'],
  );
  const sizes = Object.entries(options.watchCacheSizes ?? {});
  for (const [resource, size] of sizes) whole(`watchCacheSizes.${resource}`, size, 0);
  const chance = options.goawayChance ?? 0;
  if (!(chance >= 0 && chance <= 0.02)) throw new OptionsError('goawayChance', chance, 'between 0 and 0.02');
  return Object.freeze({
    host: text('host', options.host ?? '127.0.0.1'),
    port: port(options.port ?? 0),
    listen: bool('listen', options.listen ?? true),
    insecure: bool('insecure', options.insecure ?? false),
    token: text('token', options.token ?? randomBytes(16).toString('hex')),
    tokens: new Map(Object.entries(options.tokens ?? {})),
    anonymousAuth: bool('anonymousAuth', options.anonymousAuth ?? true),
    authorization: oneOf('authorization', options.authorization ?? 'RBAC', ['RBAC', 'AlwaysAllow']),
    namespaceController: bool('namespaceController', options.namespaceController ?? false),
    profileName,
    profile: overrideProfile(PROFILES[profileName], {
      gates: gates(options.featureGates ?? {}, PROFILES[profileName].gates),
      watchCache: options.watchCacheConstants,
      behaviours: { emptyResourceVersionWatch },
    }),
    watchCache: bool('watchCache', options.watchCache ?? true),
    watchCacheSizes: new Map(sizes),
    dataDir: options.dataDir === undefined ? undefined : text('dataDir', options.dataDir),
    etcd: options.etcd,
    etcdCompactionIntervalMs: whole('etcdCompactionIntervalMs', options.etcdCompactionIntervalMs ?? 300_000, 0),
    eventTtlSeconds: whole('eventTtlSeconds', options.eventTtlSeconds ?? 3600, 1),
    minRequestTimeoutMs: whole('minRequestTimeoutMs', options.minRequestTimeoutMs ?? 1_800_000, 0),
    requestTimeoutMs: whole('requestTimeoutMs', options.requestTimeoutMs ?? 60_000, 1),
    goawayChance: chance,
    closeGraceMs: whole('closeGraceMs', options.closeGraceMs ?? 1000, 0),
    clock: clock(options.clock ?? realClock),
    random: options.random ?? Math.random,
    logger: options.logger ?? silentLogger,
  });
}

function bool(option: string, value: unknown): boolean {
  if (typeof value !== 'boolean') throw new OptionsError(option, value, 'true or false');
  return value;
}

function text(option: string, value: unknown): string {
  if (typeof value !== 'string' || value === '') throw new OptionsError(option, value, 'a non-empty string');
  return value;
}

function whole(option: string, value: unknown, least: number): number {
  if (!Number.isSafeInteger(value) || (value as number) < least) {
    throw new OptionsError(option, value, `a whole number of at least ${least}`);
  }
  return value as number;
}

function port(value: unknown): number {
  if (whole('port', value, 0) > 65_535) throw new OptionsError('port', value, 'at most 65535');
  return value as number;
}

function oneOf<T extends string>(option: string, value: T, known: readonly T[]): T {
  if (!known.includes(value)) throw new OptionsError(option, value, `one of ${known.join(', ')}`);
  return value;
}

function clock(value: Clock | 'virtual'): Clock {
  if (value === 'virtual') return new VirtualClock();
  if (typeof value?.setTimer !== 'function') throw new OptionsError('clock', value, "a Clock or 'virtual'");
  return value;
}

function gates(given: Readonly<Record<string, boolean>>, known: FeatureGates): Partial<FeatureGates> {
  const picked: Record<string, boolean> = {};
  for (const [name, value] of Object.entries(given)) {
    bool(`featureGates.${name}`, value);
    if (Object.hasOwn(known, name)) picked[name] = value;
  }
  return picked;
}
