// The two forms in which a server says what it serves, to one form of ours.
// Upstream: client-go@v0.30.3:discovery/aggregated_discovery.go#SplitGroupsAndResources
import { parseGroupVersion } from '@kube-rx/apimachinery';
import { DecodeError } from '../errors.ts';
import type { ResourceType } from '../rest/resource-type.ts';

export interface DiscoveredSubresource {
  /** `status`, `scale`, `eviction`. */
  readonly name: string;
  readonly kind: string;
  readonly verbs: readonly string[];
}

/** A resource as the server describes it; usable wherever a ResourceType is. */
export interface DiscoveredResource extends ResourceType {
  readonly singular: string;
  readonly shortNames: readonly string[];
  readonly categories: readonly string[];
  readonly verbs: readonly string[];
  readonly subresources: readonly DiscoveredSubresource[];
}

export interface DiscoveredVersion {
  readonly version: string;
  /** False when an aggregated API server did not answer lately and this is what it said before. */
  readonly current: boolean;
  readonly resources: readonly DiscoveredResource[];
}

/** Versions in the order of preference. The core group has an empty name. */
export interface DiscoveredGroup {
  readonly name: string;
  readonly versions: readonly DiscoveredVersion[];
}

/** A version that a legacy group document names but whose resources are not in it. */
export interface NamedGroup {
  readonly name: string;
  readonly versions: readonly string[];
}

type Json = Readonly<Record<string, unknown>>;

const object = (value: unknown): Json => (typeof value === 'object' && value !== null ? (value as Json) : {});
const list = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);
const text = (value: unknown): string => (typeof value === 'string' ? value : '');
const texts = (value: unknown): string[] => list(value).filter((each): each is string => typeof each === 'string');

/** `APIGroupDiscoveryList`; undefined when the document is none. */
export function parseAggregated(document: unknown): DiscoveredGroup[] | undefined {
  const { kind, items } = object(document);
  if (kind !== 'APIGroupDiscoveryList') return undefined;
  return list(items).map((item) => {
    const name = text(object(object(item).metadata).name);
    return { name, versions: list(object(item).versions).map((version) => aggregatedVersion(name, object(version))) };
  });
}

function aggregatedVersion(group: string, document: Json): DiscoveredVersion {
  const version = text(document.version);
  return {
    version,
    current: document.freshness !== 'Stale',
    resources: list(document.resources).flatMap((each) => {
      const resource = object(each);
      const responseKind = object(resource.responseKind);
      const subresources = list(resource.subresources).map((sub) => ({
        name: text(object(sub).subresource),
        kind: text(object(object(sub).responseKind).kind),
        verbs: texts(object(sub).verbs),
      }));
      // An entry that only carries subresources (a parent that is not served itself) has no kind of its own.
      if (text(responseKind.kind) === '') return [];
      return [
        discovered(group, version, {
          plural: text(resource.resource),
          kind: text(responseKind.kind),
          namespaced: resource.scope === 'Namespaced',
          singular: text(resource.singularResource),
          document: resource,
          subresources,
        }),
      ];
    }),
  };
}

/** `APIVersions` of /api. */
export function parseCoreVersions(document: unknown): NamedGroup {
  const { kind, versions } = object(document);
  if (kind !== 'APIVersions') throw unexpected('APIVersions', kind);
  return { name: '', versions: texts(versions) };
}

/** `APIGroupList` of /apis; the preferred version comes first. */
export function parseGroupList(document: unknown): NamedGroup[] {
  const { kind, groups } = object(document);
  if (kind !== 'APIGroupList') throw unexpected('APIGroupList', kind);
  return list(groups).map((each) => {
    const group = object(each);
    const preferred = text(object(group.preferredVersion).version);
    const versions = list(group.versions).map((version) => text(object(version).version));
    return {
      name: text(group.name),
      versions: versions.includes(preferred) ? [preferred, ...versions.filter((each) => each !== preferred)] : versions,
    };
  });
}

/** `APIResourceList` of one group version; entries `pods/status` become subresources. */
export function parseResourceList(document: unknown): DiscoveredVersion {
  const { kind, groupVersion, resources } = object(document);
  if (kind !== 'APIResourceList') throw unexpected('APIResourceList', kind);
  const { group, version } = parseGroupVersion(text(groupVersion)) ?? { group: '', version: '' };
  const entries = list(resources).map(object);
  const subresourcesOf = (plural: string): DiscoveredSubresource[] =>
    entries
      .filter((entry) => text(entry.name).startsWith(`${plural}/`))
      .map((entry) => ({
        name: text(entry.name).slice(plural.length + 1),
        kind: text(entry.kind),
        verbs: texts(entry.verbs),
      }));
  return {
    version,
    current: true,
    resources: entries
      .filter((entry) => text(entry.name) !== '' && !text(entry.name).includes('/'))
      .map((entry) =>
        discovered(group, version, {
          plural: text(entry.name),
          kind: text(entry.kind),
          namespaced: entry.namespaced === true,
          singular: text(entry.singularName),
          document: entry,
          subresources: subresourcesOf(text(entry.name)),
        }),
      ),
  };
}

interface Parts {
  readonly plural: string;
  readonly kind: string;
  readonly namespaced: boolean;
  readonly singular: string;
  readonly document: Json;
  readonly subresources: readonly DiscoveredSubresource[];
}

function discovered(group: string, version: string, parts: Parts): DiscoveredResource {
  return {
    apiVersion: group === '' ? version : `${group}/${version}`,
    group,
    version,
    kind: parts.kind,
    plural: parts.plural,
    scope: parts.namespaced ? 'Namespaced' : 'Cluster',
    singular: parts.singular === '' ? parts.kind.toLowerCase() : parts.singular,
    shortNames: texts(parts.document.shortNames),
    categories: texts(parts.document.categories),
    verbs: texts(parts.document.verbs),
    subresources: parts.subresources,
  };
}

const unexpected = (wanted: string, kind: unknown): DecodeError =>
  new DecodeError('BAD_JSON', `discovery answered with kind ${JSON.stringify(kind)} instead of ${wanted}`);
