// The answer of a write that has no object to show.
import type { ApiObject } from '../../storage/api-object.ts';

export function success(code: number): ApiObject {
  return { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success', code } as unknown as ApiObject;
}
