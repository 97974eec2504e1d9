// The served set as groups and versions, in the order discovery shows them; made anew when the catalog changes.
// Upstream: kube-aggregator@v0.30.3:pkg/apiserver/handler_apis.go, apimachinery@v0.30.3:pkg/version/helpers.go
import type { ResourceCatalog, ResourceInfo } from '../registry/rest.ts';

export interface ServedVersion {
  readonly version: string;
  /** Sorted by name, as the router's paths are. */
  readonly resources: readonly ResourceInfo[];
}

export interface ServedGroup {
  readonly name: string;
  readonly custom: boolean;
  /** The preferred one first. */
  readonly versions: readonly ServedVersion[];
}

/** Order of the built-in groups, and of the versions in each. */
export type GroupOrder = readonly { readonly name: string; readonly versions: readonly { readonly name: string }[] }[];

export class ApiGroups {
  readonly #catalog: ResourceCatalog;
  readonly #order: GroupOrder;
  #generation = -1;
  #groups: ReadonlyMap<string, ServedGroup> = new Map();

  constructor(catalog: ResourceCatalog, order: GroupOrder) {
    this.#catalog = catalog;
    this.#order = order;
  }

  get generation(): number {
    return this.#catalog.generation;
  }

  /** Built-in groups in the order of the real server, then custom ones by name. */
  all(): ReadonlyMap<string, ServedGroup> {
    if (this.#generation !== this.#catalog.generation) {
      this.#generation = this.#catalog.generation;
      this.#groups = this.#collect();
    }
    return this.#groups;
  }

  get(name: string): ServedGroup | undefined {
    return this.all().get(name);
  }

  #collect(): ReadonlyMap<string, ServedGroup> {
    const found = new Map<string, Map<string, ResourceInfo[]>>();
    for (const info of this.#catalog.all()) {
      const versions = found.get(info.group) ?? new Map<string, ResourceInfo[]>();
      found.set(info.group, versions);
      const resources = versions.get(info.version) ?? [];
      versions.set(info.version, resources);
      resources.push(info);
    }
    const known = this.#order.map((group) => group.name).filter((name) => found.has(name));
    const others = [...found.keys()].filter((name) => !known.includes(name)).sort();
    return new Map([...known, ...others].map((name) => [name, this.#group(name, found.get(name)!)]));
  }

  #group(name: string, versions: ReadonlyMap<string, readonly ResourceInfo[]>): ServedGroup {
    const preferred = this.#order.find((group) => group.name === name)?.versions.map((version) => version.name) ?? [];
    const rank = (version: string): number => {
      const index = preferred.indexOf(version);
      return index < 0 ? preferred.length : index;
    };
    const sorted = [...versions].sort(([a], [b]) => rank(a) - rank(b) || compareKubeVersions(b, a));
    const served = sorted.map(([version, resources]) => ({
      version,
      resources: [...resources].sort((a, b) => (a.resource < b.resource ? -1 : 1)),
    }));
    return { name, custom: served.some(({ resources }) => resources.some((info) => info.custom)), versions: served };
  }
}

/** Positive when `a` is preferred: GA before beta before alpha, then by numbers, then anything else by name. */
export function compareKubeVersions(a: string, b: string): number {
  const [x, y] = [parseKubeVersion(a), parseKubeVersion(b)];
  if (x === undefined || y === undefined) return x === y ? (a < b ? 1 : a > b ? -1 : 0) : x === undefined ? -1 : 1;
  return x.stage - y.stage || x.major - y.major || x.minor - y.minor;
}

function parseKubeVersion(text: string): { stage: number; major: number; minor: number } | undefined {
  const match = /^v([1-9][0-9]*)(?:(alpha|beta)([1-9][0-9]*))?$/.exec(text);
  if (match === null) return undefined;
  const stage = match[2] === undefined ? 2 : match[2] === 'beta' ? 1 : 0;
  return { stage, major: Number(match[1]), minor: Number(match[3] ?? 0) };
}
