// Metadata alone is a struct upstream, whatever the object is: a custom resource's sorted fields get the order of Go's ObjectMeta.
// Upstream: apiserver@v0.30.3:pkg/endpoints/handlers/response.go#asPartialObjectMetadata
import type { ObjectMeta } from '@kube-rx/apimachinery';
import type { ApiObject } from '../storage/api-object.ts';

const META = [
  'name',
  'generateName',
  'namespace',
  'selfLink',
  'uid',
  'resourceVersion',
  'generation',
  'creationTimestamp',
  'deletionTimestamp',
  'deletionGracePeriodSeconds',
  'labels',
  'annotations',
  'ownerReferences',
  'finalizers',
  'managedFields',
];
const OWNER = ['apiVersion', 'kind', 'name', 'uid', 'controller', 'blockOwnerDeletion'];
const ENTRY = ['manager', 'operation', 'apiVersion', 'time', 'fieldsType', 'fieldsV1', 'subresource'];

type Fields = Readonly<Record<string, unknown>>;

function inOrder(source: Fields, order: readonly string[]): Fields {
  return Object.fromEntries(order.filter((name) => Object.hasOwn(source, name)).map((name) => [name, source[name]]));
}

/** Conversion to apps/v1 adds it, and metadata alone is not converted. */
const TEMPLATE_GENERATION = 'deprecated.daemonset.template.generation';

function ofDaemonSet(metadata: ObjectMeta): ObjectMeta {
  const { annotations, ...rest } = metadata;
  const { [TEMPLATE_GENERATION]: generation, ...others } = annotations ?? {};
  if (generation === undefined) return metadata;
  if (Object.keys(others).length === 0) return rest;
  // In its place: keys that are there keep their order.
  return { ...metadata, annotations: others };
}

/** The metadata of an object in the order of the struct; that of built-in objects has it already. */
export function typedMetadata({ apiVersion, kind, metadata }: ApiObject): ObjectMeta {
  if (kind === 'DaemonSet' && apiVersion === 'apps/v1') return ofDaemonSet(metadata);
  const source = metadata as Fields;
  let first = '';
  for (first in source) break;
  if (first !== 'annotations' && first !== 'creationTimestamp') return metadata;
  const lists = { ownerReferences: OWNER, managedFields: ENTRY };
  const made = { ...inOrder(source, META) };
  for (const [name, order] of Object.entries(lists)) {
    const items = made[name];
    if (Array.isArray(items)) made[name] = items.map((item: Fields) => inOrder(item, order));
  }
  return made as ObjectMeta;
}
