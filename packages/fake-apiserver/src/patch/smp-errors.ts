// Messages of strategic merge patch, and which of them are the client's fault.
// Upstream: apimachinery@v0.30.3:pkg/util/mergepatch/errors.go, apiserver@v0.30.3:pkg/endpoints/handlers/patch.go#interpretStrategicMergePatchError
import { goDynamicType } from '../schema/go-dynamic-type.ts';
import { goPrint } from './go-print.ts';
import type { JsonObject } from './json-value.ts';
import { PatchError } from './patch-error.ts';

export const badPrimitiveList = (): PatchError =>
  new PatchError('bad-request', 'invalid patch format of primitive list');
export const badRetainKeys = (): PatchError => new PatchError('bad-request', 'invalid patch format of retainKeys');
export const badSetElementOrder = (): PatchError =>
  new PatchError('bad-request', 'invalid patch format of setElementOrder list');
export const unsupportedFormat = (): PatchError =>
  new PatchError('bad-request', 'strategic merge patch format is not supported');
export const listOfLists = (): PatchError => new PatchError('unprocessable', 'lists of lists are not supported');

export const other = (message: string): PatchError => new PatchError('unknown', message);

export const noMergeKey = (object: JsonObject, key: string): PatchError =>
  other(`map: ${goPrint(object)} does not contain declared merge key: ${key}`);

export const badPatchType = (directive: unknown, object: JsonObject): PatchError =>
  other(`unknown patch type: ${goPrint(directive)} in map: ${goPrint(object)}`);

export const badArgType = (expected: 'map' | 'list', actual: unknown): PatchError =>
  other(
    `expected a ${expected === 'map' ? 'map[string]interface {}' : '[]interface {}'}, but received a ${goTypeName(actual)}`,
  );

/** Dynamic type of a decoded JSON value. */
export function goTypeName(value: unknown): string {
  return value === null || value === undefined ? '%!s(<nil>)' : goDynamicType(value);
}

export { goPrint as print } from './go-print.ts';
