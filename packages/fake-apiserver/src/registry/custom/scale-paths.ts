// Where a custom resource keeps what its scale shows, and what may stand there.
// Upstream: apiextensions-apiserver@v0.30.3:pkg/registry/customresource/validator.go, etcd.go
import type { Crd, ScaleSubresource } from '../../apiextensions/crd.ts';
import { type FieldError, invalid } from '../../apiextensions/field-error.ts';
import { type JsonObject, nested, shownWithType } from '../../apiextensions/schema/json.ts';
import type { ReplicasPath } from '../subresources/replicas-owners.ts';

const MAX_INT32 = 2 ** 31 - 1;

export const splitPath = (path: string): readonly string[] => path.replace(/^\./, '').split('.');

/** Where the versions of a CRD keep the replicas. */
export function replicasPath(crd: Crd): ReplicasPath {
  const paths = new Map<string, readonly string[] | null>();
  for (const { name, subresources } of crd.versions) {
    const scale = subresources?.scale;
    paths.set(`${crd.group}/${name}`, scale === undefined ? null : splitPath(scale.specReplicasPath));
  }
  return (apiVersion) => paths.get(apiVersion);
}

/** A value of a type, or why there is none. */
export interface Found<T> {
  readonly value: T | undefined;
  readonly error?: string;
}

export function nestedInteger(object: JsonObject, path: string): Found<number> {
  const steps = splitPath(path);
  const found = nested(object, steps);
  if (found.error !== undefined) return { value: undefined, error: found.error };
  if (!found.found) return { value: undefined };
  if (typeof found.value === 'number' && Number.isInteger(found.value)) return { value: found.value };
  return {
    value: undefined,
    error: `.${steps.join('.')} accessor error: ${shownWithType(found.value)}, expected int64`,
  };
}

export function nestedText(object: JsonObject, path: string): Found<string> {
  const steps = splitPath(path);
  const found = nested(object, steps);
  if (found.error !== undefined) return { value: undefined, error: found.error };
  if (!found.found) return { value: undefined };
  if (typeof found.value === 'string') return { value: found.value };
  return {
    value: undefined,
    error: `.${steps.join('.')} accessor error: ${shownWithType(found.value)}, expected string`,
  };
}

function replicasErrors(object: JsonObject, path: string): FieldError[] {
  const { value = 0, error } = nestedInteger(object, path);
  if (error !== undefined) return [invalid(path, 0, error)];
  if (value < 0) return [invalid(path, value, 'should be a non-negative integer')];
  return value > MAX_INT32 ? [invalid(path, value, `should be less than or equal to ${MAX_INT32}`)] : [];
}

export function scaleSpecErrors(object: JsonObject, scale: ScaleSubresource | undefined): FieldError[] {
  return scale === undefined ? [] : replicasErrors(object, scale.specReplicasPath);
}

export function scaleStatusErrors(object: JsonObject, scale: ScaleSubresource | undefined): FieldError[] {
  if (scale === undefined) return [];
  const errors = replicasErrors(object, scale.statusReplicasPath);
  const path = scale.labelSelectorPath;
  if (path === undefined) return errors;
  const { error } = nestedText(object, path);
  return error === undefined ? errors : [...errors, invalid(path, '', error)];
}
