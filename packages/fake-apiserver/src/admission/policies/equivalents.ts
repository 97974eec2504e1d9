// Which served resources show the same objects, and how an object looks in another of them.
// Upstream: apiserver@v0.30.3:pkg/runtime/mapper.go#equivalentResourceRegistry, apiserver@v0.30.3:pkg/admission/conversion.go
import type { GroupVersionResource } from '@kube-rx/apimachinery';
import { storageVersionOf } from '../../registry/conversions.ts';
import { type Draft, get } from '../../registry/draft.ts';
import type { ResourceCatalog, ResourceInfo } from '../../registry/rest.ts';
import { Store } from '../../registry/store.ts';
import type { ApiObject } from '../../storage/api-object.ts';
import type { Seen } from './bindings.ts';

const storedAs = ({ group, version, resource }: GroupVersionResource): string =>
  `${storageVersionOf(group, version, resource).group}/${resource}`;

function seenAs({ group, version, resource, kind, subresources }: ResourceInfo, subresource: string): Seen | undefined {
  const of = { group, version, resource };
  if (subresource === '') return { resource: of, kind: { group, version, kind } };
  const sub = subresources.find(({ name }) => name === subresource);
  if (sub === undefined) return undefined;
  return { resource: of, kind: { group: sub.group || group, version: sub.version || version, kind: sub.kind } };
}

/** Without the resource itself. */
export function equivalentsOf(catalog: ResourceCatalog, resource: GroupVersionResource, subresource: string): Seen[] {
  const wanted = storedAs(resource);
  return [...catalog.all()].flatMap((info) => {
    if (info.group === resource.group && info.version === resource.version) return [];
    if (storedAs(info) !== wanted) return [];
    const seen = seenAs(info, subresource);
    return seen === undefined ? [] : [seen];
  });
}

/** The argument stays as it is. Objects of subresources that are a kind of their own have one version only. */
export function showAs(catalog: ResourceCatalog, object: Draft, { resource, kind }: Seen): Draft {
  const { group, version } = kind;
  const own = group === resource.group && version === resource.version;
  const store = own ? catalog.find(group, version, resource.resource) : undefined;
  if (store instanceof Store && store.view.fromStorage !== undefined)
    return store.view.fromStorage(object as unknown as ApiObject) as unknown as Draft;
  const apiVersion = group === '' ? version : `${group}/${version}`;
  return get(object, 'apiVersion') === apiVersion ? object : { ...object, apiVersion };
}
