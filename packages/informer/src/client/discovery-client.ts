// What the server serves: one request where it can aggregate, one for each group version where it cannot. Cached.
// Upstream: client-go@v0.30.3:discovery/discovery_client.go#DiscoveryClient, discovery/cached/memory/memcache.go#memCacheClient
// Differs: a group that does not answer is remembered as a failure instead of failing the whole discovery.
import type { KubernetesObject } from '@kube-rx/apimachinery';
import { formatGroupVersion, isNotFound } from '@kube-rx/apimachinery';
import { ConfigError } from '../errors.ts';
import type { ResourceType } from '../rest/resource-type.ts';
import type { RestClient } from '../rest/rest-client.ts';
import type { CallOptions } from './client-options.ts';
import type { DiscoveredGroup, DiscoveredResource, DiscoveredVersion, NamedGroup } from './discovery-parse.ts';
import { parseAggregated, parseCoreVersions, parseGroupList, parseResourceList } from './discovery-parse.ts';
import { findResource } from './resource-names.ts';

export interface DiscoveryClientOptions {
  /** How long an answer is good, in ms; 0 asks each time. @defaultValue 10 minutes */
  readonly ttlMs?: number;
  /** `false` asks group by group, as servers before 1.26 need it. @defaultValue true */
  readonly aggregated?: boolean;
}

/** `/version`. */
export interface ServerVersion {
  readonly major: string;
  readonly minor: string;
  readonly gitVersion: string;
  readonly platform?: string;
}

export interface DiscoverySnapshot {
  readonly groups: readonly DiscoveredGroup[];
  /** Group versions that could not be read, with the reason. */
  readonly failures: ReadonlyMap<string, unknown>;
}

const AGGREGATED_ACCEPT = [
  'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList',
  'application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList',
  'application/json',
].join(',');
const DEFAULT_TTL_MS = 10 * 60_000;
// A name that is not there may have come with a CRD since; an answer younger than this is not asked for again.
const FRESH_MS = 2_000;
const CONCURRENCY = 8;

/**
 * @example
 * const deployments = await discovery.find('deploy');      // or 'Deployment', 'deployments.apps', 'deployments.v1.apps'
 */
export class DiscoveryClient {
  readonly #rest: RestClient;
  readonly #ttlMs: number;
  readonly #aggregated: boolean;
  #cached: { readonly snapshot: DiscoverySnapshot; readonly at: number } | undefined;
  #running: Promise<DiscoverySnapshot> | undefined;

  constructor(rest: RestClient, options: DiscoveryClientOptions = {}) {
    this.#rest = rest;
    this.#ttlMs = options.ttlMs ?? DEFAULT_TTL_MS;
    this.#aggregated = options.aggregated ?? true;
  }

  serverVersion(options: CallOptions = {}): Promise<ServerVersion> {
    return this.#rest.json<ServerVersion>({ path: '/version', signal: options.signal });
  }

  /** Everything, from the cache while it is good. Calls at the same time share one discovery; the signal ends the wait, not the work. */
  async snapshot(options: CallOptions = {}): Promise<DiscoverySnapshot> {
    const cached = this.#cached;
    if (cached !== undefined && this.#rest.clock.now() - cached.at < this.#ttlMs) return cached.snapshot;
    this.#running ??= this.#discover().finally(() => {
      this.#running = undefined;
    });
    return raceAbort(this.#running, options.signal);
  }

  /** Every resource of every version, the preferred versions first within their group. */
  async resources(options: CallOptions = {}): Promise<DiscoveredResource[]> {
    const { groups } = await this.snapshot(options);
    return groups.flatMap((group) => group.versions.flatMap((version) => version.resources));
  }

  /** Preferred resources of a category such as `all`. */
  async category(name: string, options: CallOptions = {}): Promise<DiscoveredResource[]> {
    const { groups } = await this.snapshot(options);
    const seen = new Set<string>();
    return groups.flatMap((group) =>
      group.versions
        .flatMap((version) => version.resources)
        .filter((resource) => {
          const id = `${group.name}/${resource.plural}`;
          if (!resource.categories.includes(name) || seen.has(id)) return false;
          seen.add(id);
          return true;
        }),
    );
  }

  /**
   * The resource with that plural, singular or short name or kind, optionally `NAME.GROUP` or `NAME.VERSION.GROUP`. Asks the server
   * once more when the name is not in the cache; rejects with a ConfigError UNKNOWN_RESOURCE when it is not there either.
   */
  async find<T extends KubernetesObject = KubernetesObject>(
    name: string,
    options: CallOptions = {},
  ): Promise<DiscoveredResource & ResourceType<T>> {
    const found = await this.#lookUp(({ groups }) => findResource(groups, name), name, options);
    return found as DiscoveredResource & ResourceType<T>;
  }

  /** The resource of a kind, as an object names it. */
  async findKind<T extends KubernetesObject = KubernetesObject>(
    apiVersion: string,
    kind: string,
    options: CallOptions = {},
  ): Promise<DiscoveredResource & ResourceType<T>> {
    const inSnapshot = ({ groups }: DiscoverySnapshot): DiscoveredResource | undefined =>
      groups
        .flatMap((group) => group.versions.flatMap((version) => version.resources))
        .find((resource) => resource.apiVersion === apiVersion && resource.kind === kind);
    const found = await this.#lookUp(inSnapshot, `${apiVersion}, Kind=${kind}`, options);
    return found as DiscoveredResource & ResourceType<T>;
  }

  /** Forgets what was answered. */
  invalidate(): void {
    this.#cached = undefined;
  }

  async #lookUp(
    lookUp: (snapshot: DiscoverySnapshot) => DiscoveredResource | undefined,
    what: string,
    options: CallOptions,
  ): Promise<DiscoveredResource> {
    let snapshot = await this.snapshot(options);
    let found = lookUp(snapshot);
    if (found === undefined && this.#rest.clock.now() - (this.#cached?.at ?? 0) >= FRESH_MS) {
      this.invalidate();
      snapshot = await this.snapshot(options);
      found = lookUp(snapshot);
    }
    if (found === undefined) throw unknownResource(what, snapshot);
    return found;
  }

  async #discover(): Promise<DiscoverySnapshot> {
    const failures = new Map<string, unknown>();
    const [core, named] = await Promise.all([this.#root('/api'), this.#root('/apis')]);
    const groups = await Promise.all([this.#groups(core, failures), this.#groups(named, failures)]);
    const snapshot: DiscoverySnapshot = { groups: groups.flat(), failures };
    this.#cached = { snapshot, at: this.#rest.clock.now() };
    return snapshot;
  }

  async #root(path: string): Promise<DiscoveredGroup[] | NamedGroup[]> {
    let document: unknown;
    try {
      document = await this.#rest.json<unknown>({ path, ...(this.#aggregated ? { accept: AGGREGATED_ACCEPT } : {}) });
    } catch (error) {
      // A server of its own kind may serve only one of the two trees.
      if (isNotFound(error)) return [];
      throw error;
    }
    const aggregated = parseAggregated(document);
    if (aggregated !== undefined) return aggregated;
    return path === '/api' ? [parseCoreVersions(document)] : parseGroupList(document);
  }

  async #groups(groups: DiscoveredGroup[] | NamedGroup[], failures: Map<string, unknown>): Promise<DiscoveredGroup[]> {
    const wanted = groups.flatMap((group) =>
      group.versions.flatMap((version) => (typeof version === 'string' ? [{ group: group.name, version }] : [])),
    );
    if (wanted.length === 0) return groups as DiscoveredGroup[];
    const read = new Map<string, DiscoveredVersion>();
    await inParallel(wanted, async (groupVersion) => {
      const name = formatGroupVersion(groupVersion);
      try {
        const path = groupVersion.group === '' ? `/api/${name}` : `/apis/${name}`;
        read.set(name, parseResourceList(await this.#rest.json<unknown>({ path })));
      } catch (error) {
        failures.set(name, error);
      }
    });
    return (groups as NamedGroup[]).map((group) => ({
      name: group.name,
      versions: group.versions.flatMap((version) => read.get(formatGroupVersion({ group: group.name, version })) ?? []),
    }));
  }
}

async function inParallel<T>(items: readonly T[], run: (item: T) => Promise<void>): Promise<void> {
  let next = 0;
  const worker = async (): Promise<void> => {
    while (next < items.length) await run(items[next++]!);
  };
  await Promise.all(Array.from({ length: Math.min(CONCURRENCY, items.length) }, worker));
}

function raceAbort<T>(work: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (signal === undefined) return work;
  return new Promise((resolve, reject) => {
    const onAbort = (): void => reject(signal.reason);
    if (signal.aborted) onAbort();
    signal.addEventListener('abort', onAbort, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', onAbort));
  });
}

function unknownResource(name: string, snapshot: DiscoverySnapshot): ConfigError {
  const silent = [...snapshot.failures.keys()];
  const hint = silent.length === 0 ? '' : `; these groups did not answer: ${silent.join(', ')}`;
  return new ConfigError('UNKNOWN_RESOURCE', `the server has no resource ${JSON.stringify(name)}${hint}`);
}
