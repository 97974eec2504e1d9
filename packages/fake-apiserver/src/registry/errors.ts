// Failures of storage as the API words them.
// Upstream: apiserver@v0.30.3:pkg/registry/generic/registry/../../../api/errors/storage/storage.go
import {
  type GroupResource,
  newAlreadyExists,
  newConflict,
  newInternalError,
  newNotFound,
  newStatusError,
  newTimeout,
  newUnknownError,
  type StatusError,
} from '@kube-rx/apimachinery';
import { StorageError } from '../storage/errors.ts';

export const OPTIMISTIC_LOCK =
  'the object has been modified; please apply your changes to the latest version and try again';

function common(error: StorageError): StatusError {
  if (error.code === 'Unreachable' || error.code === 'Timeout') return newTimeout(error.message, 2);
  return newInternalError(error.message);
}

/** The Status of a failed read of one object; other errors pass. */
export function interpretGetError(error: unknown, resource: GroupResource, name: string): unknown {
  if (!(error instanceof StorageError)) return error;
  return error.code === 'KeyNotFound' ? newNotFound(resource, name) : common(error);
}

export function interpretListError(error: unknown, resource: GroupResource): unknown {
  return interpretGetError(error, resource, '');
}

export function interpretCreateError(error: unknown, resource: GroupResource, name: string): unknown {
  if (!(error instanceof StorageError)) return error;
  return error.code === 'KeyExists' ? newAlreadyExists(resource, name) : common(error);
}

export function interpretUpdateError(error: unknown, resource: GroupResource, name: string): unknown {
  if (!(error instanceof StorageError)) return error;
  switch (error.code) {
    case 'KeyNotFound':
      return newNotFound(resource, name);
    case 'KeyExists':
    case 'ResourceVersionConflicts':
    case 'InvalidObj':
      return newConflict(resource, name, error.message);
    default:
      return common(error);
  }
}

/** Of an object that is there but on its way out. */
export function beingDeleted(error: StatusError): StatusError {
  const { message = '', details } = error.status;
  return newStatusError(409, 'AlreadyExists', `object is being deleted: ${message}`, details);
}

export const resourceVersionSetOnCreate = (): StatusError =>
  newUnknownError('resourceVersion should not be set on objects to be created');

/** A resourceVersion as a number; '' and '0' are 0. */
export function parseObjectVersion(text: string): number {
  if (text === '') return 0;
  if (!/^\d+$/.test(text)) throw newUnknownError(`strconv.ParseUint: parsing ${JSON.stringify(text)}: invalid syntax`);
  return Number(text);
}
