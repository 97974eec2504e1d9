// The resource the storage suites work with: pods, because their watchers are indexed by node.
import {
  everythingFields,
  everythingLabels,
  parseFieldSelector,
  parseLabelSelector,
  type VirtualClock,
} from '@kube-rx/apimachinery';
import type { EtcdClient } from '../../packages/fake-apiserver/src/etcd/client.ts';
import type { FeatureGate } from '../../packages/fake-apiserver/src/profiles/profile.ts';
import type { ApiObject } from '../../packages/fake-apiserver/src/storage/api-object.ts';
import type {
  StorageList,
  StorageListOptions,
  StorageWatch,
  StorageWatchEvent,
} from '../../packages/fake-apiserver/src/storage/interfaces.ts';
import type {
  ResourceStorage,
  ResourceStorageConfig,
} from '../../packages/fake-apiserver/src/storage/storage-factory.ts';

export interface StorageUnderTest {
  readonly storage: ResourceStorage;
  readonly etcd: EtcdClient;
  readonly clock: VirtualClock;
  /** Answers come from a watch cache where upstream answers from it. */
  readonly cached: boolean;
  close(): Promise<void>;
}

export interface StorageSuiteOptions {
  readonly name: string;
  /** The storage is ready and empty; etcd is at its first revision. `gates` are on besides those of 1.30.3. */
  create(gates?: readonly FeatureGate[]): Promise<StorageUnderTest>;
}

export const PREFIX = '/registry/pods';

export const podConfig: ResourceStorageConfig = {
  groupResource: { group: '', resource: 'pods' },
  apiVersion: 'v1',
  kind: 'Pod',
  namespaced: true,
  resourcePrefix: PREFIX,
  getAttributes: (object) => {
    const spec = object['spec'] as { nodeName?: string } | undefined;
    return {
      labels: object.metadata.labels,
      fields: {
        'metadata.name': object.metadata.name ?? '',
        'metadata.namespace': object.metadata.namespace ?? '',
        'spec.nodeName': spec?.nodeName ?? '',
      },
    };
  },
  codec: {
    encode: (object) => {
      const { resourceVersion: _, selfLink: __, ...metadata } = object.metadata;
      return Buffer.from(JSON.stringify({ ...object, metadata }));
    },
    decode: (bytes) => JSON.parse(bytes.toString()) as ApiObject,
  },
  cached: true,
  triggerField: 'spec.nodeName',
};

export interface PodInit {
  readonly labels?: Readonly<Record<string, string>>;
  readonly node?: string;
  readonly image?: string;
}

/** `pod('ns/name')`. */
export function pod(path: string, init: PodInit = {}): ApiObject {
  const [namespace = '', name = ''] = path.split('/');
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, namespace, uid: `uid-of-${name}`, ...(init.labels ? { labels: init.labels } : {}) },
    spec: { ...(init.node === undefined ? {} : { nodeName: init.node }), image: init.image ?? 'one' },
  };
}

export const keyOf = (path: string): string => `${PREFIX}/${path}`;

export interface ListInit extends Omit<StorageListOptions, 'predicate'> {
  readonly labels?: string;
  readonly fields?: string;
  readonly limit?: number;
  readonly continue?: string;
  readonly bookmarks?: boolean;
}

export function listOptions(init: ListInit = {}): StorageListOptions {
  const { labels, fields, limit = 0, continue: token = '', bookmarks = false, ...rest } = init;
  return {
    ...rest,
    predicate: {
      label: labels === undefined ? everythingLabels : parseLabelSelector(labels),
      field: fields === undefined ? everythingFields : parseFieldSelector(fields),
      getAttributes: podConfig.getAttributes,
      limit,
      continue: token,
      allowWatchBookmarks: bookmarks,
    },
  };
}

export const namesOf = (list: StorageList): string[] =>
  list.items.map(({ object }) => `${object.metadata.namespace}/${object.metadata.name}`);

/** Everything that waits in a watch, as lines like `ADDED ns/name 7`. */
export function drain(watch: StorageWatch): string[] {
  const lines: string[] = [];
  for (let event = watch.next(); event !== undefined; event = watch.next()) lines.push(lineOf(event));
  return lines;
}

export function lineOf(event: StorageWatchEvent): string {
  if (event.type === 'ERROR') return `ERROR ${event.status.code} ${event.status.message}`;
  const { metadata } = event.object.object;
  if (event.type !== 'BOOKMARK')
    return `${event.type} ${metadata.namespace}/${metadata.name} ${metadata.resourceVersion}`;
  const end = metadata.annotations?.['k8s.io/initial-events-end'] === 'true' ? ' end' : '';
  return `BOOKMARK ${metadata.resourceVersion}${end}`;
}
