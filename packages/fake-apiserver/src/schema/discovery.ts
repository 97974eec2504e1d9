// What the real server serves: groups in their order, versions by preference, resources with verbs and subresources.
import { type DataProfile, loadOnce, readData } from './profile-data.ts';

export interface DiscoverySubresource {
  readonly name: string;
  readonly kind: string;
  /** Equal to the resource's group unless the subresource borrows a kind, e.g. `autoscaling` for `scale`. */
  readonly kindGroup: string;
  readonly kindVersion: string;
  /** True when the kind is of another group, which discovery spells out and otherwise leaves empty. */
  readonly foreignKind: boolean;
  readonly verbs: readonly string[];
}

export interface DiscoveryResource {
  readonly name: string;
  readonly singular: string;
  readonly kind: string;
  readonly kindGroup: string;
  readonly kindVersion: string;
  readonly foreignKind: boolean;
  readonly namespaced: boolean;
  readonly verbs: readonly string[];
  readonly shortNames: readonly string[];
  readonly categories: readonly string[];
  readonly subresources: readonly DiscoverySubresource[];
}

export interface DiscoveryVersion {
  readonly name: string;
  readonly resources: readonly DiscoveryResource[];
}

export interface DiscoveryGroup {
  /** '' for the legacy group, which is first. */
  readonly name: string;
  /** By preference: the first is the preferred version. */
  readonly versions: readonly DiscoveryVersion[];
}

interface RawKind {
  readonly name: string;
  readonly kind: string;
  readonly kindGroup?: string;
  readonly kindVersion?: string;
  readonly verbs: readonly string[];
}

interface RawResource extends RawKind {
  readonly singular: string;
  readonly namespaced: boolean;
  readonly shortNames?: readonly string[];
  readonly categories?: readonly string[];
  readonly subresources?: readonly RawKind[];
}

type RawGroups = readonly {
  readonly name: string;
  readonly versions: readonly { readonly name: string; readonly resources: readonly RawResource[] }[];
}[];

function withKind(raw: RawKind, group: string, version: string): DiscoverySubresource {
  return {
    name: raw.name,
    kind: raw.kind,
    kindGroup: raw.kindGroup ?? group,
    kindVersion: raw.kindVersion ?? version,
    foreignKind: raw.kindGroup !== undefined,
    verbs: raw.verbs,
  };
}

/** The groups of a profile, the legacy group first and the others in the order of `/apis`. Frozen data, shared per process. */
export function loadDiscovery(profile: DataProfile): readonly DiscoveryGroup[] {
  return loadOnce(profile, 'discovery', () =>
    readData<RawGroups>(profile, 'discovery.json').map((group) => ({
      name: group.name,
      versions: group.versions.map((version) => ({
        name: version.name,
        resources: version.resources.map((raw) => ({
          ...withKind(raw, group.name, version.name),
          singular: raw.singular,
          namespaced: raw.namespaced,
          shortNames: raw.shortNames ?? [],
          categories: raw.categories ?? [],
          subresources: (raw.subresources ?? []).map((sub) => withKind(sub, group.name, version.name)),
        })),
      })),
    })),
  );
}
