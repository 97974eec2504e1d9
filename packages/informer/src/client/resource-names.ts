// The names people use for a resource, to the resource that is meant.
// Upstream: client-go@v0.30.3:restmapper/shortcut.go, apimachinery@v0.30.3:pkg/runtime/schema/group_version.go#ParseResourceArg
import type { DiscoveredGroup, DiscoveredResource } from './discovery-parse.ts';

/** How good a match is; smaller wins, then the order of the groups and versions. */
const MATCHES: readonly ((resource: DiscoveredResource, name: string) => boolean)[] = [
  (resource, name) => resource.plural.toLowerCase() === name,
  (resource, name) => resource.singular.toLowerCase() === name,
  (resource, name) => resource.shortNames.some((short) => short.toLowerCase() === name),
  (resource, name) => resource.kind.toLowerCase() === name,
];

interface Wanted {
  readonly name: string;
  readonly group?: string;
  readonly version?: string;
}

/** `pods`, `deploy.apps`, `deployments.v1.apps`, `pods.v1`: what each part may mean, the most exact reading first. */
function readings(text: string): Wanted[] {
  const [first = '', ...rest] = text.toLowerCase().split('.');
  if (rest.length === 0) return [{ name: first }];
  const group = rest.join('.');
  const [version = '', ...groupParts] = rest;
  return [
    { name: first, version, group: groupParts.join('.') },
    { name: first, group },
  ];
}

/**
 * Finds by plural, singular or short name or by kind, in any case, with `.GROUP` or `.VERSION.GROUP` behind it. Without a version the
 * preferred one is taken, without a group the first that has the name.
 */
export function findResource(groups: readonly DiscoveredGroup[], text: string): DiscoveredResource | undefined {
  for (const wanted of readings(text)) {
    const candidates = groups
      .filter((group) => wanted.group === undefined || group.name === wanted.group)
      .flatMap((group) => group.versions)
      .filter((version) => wanted.version === undefined || version.version === wanted.version)
      .flatMap((version) => version.resources);
    for (const matches of MATCHES) {
      const found = candidates.find((resource) => matches(resource, wanted.name));
      if (found !== undefined) return found;
    }
  }
  return undefined;
}
