// uid and resourceVersion a caller expects of the object it is about to change.
// Upstream: apiserver@v0.30.3:pkg/storage/interfaces.go#Preconditions.Check
import type { Preconditions } from '@kube-rx/apimachinery';
import type { ApiObject } from './api-object.ts';
import { StorageError } from './errors.ts';

/** @throws StorageError InvalidObj */
export function checkPreconditions(
  key: string,
  preconditions: Preconditions | undefined,
  existing: ApiObject | undefined,
): void {
  if (preconditions === undefined) return;
  const { uid, resourceVersion } = preconditions;
  const found = existing?.metadata;
  if (uid !== undefined && uid !== (found?.uid ?? '')) {
    throw invalid(key, `Precondition failed: UID in precondition: ${uid}, UID in object meta: ${found?.uid ?? ''}`);
  }
  if (resourceVersion !== undefined && resourceVersion !== (found?.resourceVersion ?? '')) {
    throw invalid(
      key,
      `Precondition failed: ResourceVersion in precondition: ${resourceVersion}, ResourceVersion in object meta: ${found?.resourceVersion ?? ''}`,
    );
  }
}

function invalid(key: string, additionalMessage: string): StorageError {
  return new StorageError({ code: 'InvalidObj', key, additionalMessage });
}
