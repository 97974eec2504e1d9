// The object of a BOOKMARK event: an empty one of the kind, with a resourceVersion.
import { INITIAL_EVENTS_END_ANNOTATION } from '@kube-rx/apimachinery';
import type { Revision } from '../etcd/client.ts';
import type { ApiObject } from './api-object.ts';
import { formatResourceVersion } from './api-object-versioner.ts';
import type { ResourceStorageConfig } from './storage-factory.ts';
import { StoredObject } from './stored-object.ts';

export interface BookmarkOptions {
  readonly initialEventsEnd: boolean;
  /** The zero value that types without omitempty print, up to 1.33. */
  readonly nullCreationTimestamp: boolean;
}

export function makeBookmark(
  config: Pick<ResourceStorageConfig, 'apiVersion' | 'kind' | 'bookmarkExtra'>,
  revision: Revision,
  options: BookmarkOptions,
): StoredObject {
  const zeroTime = options.nullCreationTimestamp && config.bookmarkExtra !== undefined;
  const object: ApiObject = {
    kind: config.kind,
    apiVersion: config.apiVersion,
    metadata: {
      resourceVersion: formatResourceVersion(revision),
      ...(zeroTime ? { creationTimestamp: null } : {}),
      ...(options.initialEventsEnd ? { annotations: { [INITIAL_EVENTS_END_ANNOTATION]: 'true' } } : {}),
    },
    ...config.bookmarkExtra,
  };
  return new StoredObject('', Object.freeze(object), revision);
}
