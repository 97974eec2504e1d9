// What the kind CustomResourceDefinition decides about its objects.
// Upstream: apiextensions-apiserver@v0.30.3:pkg/registry/customresourcedefinition/strategy.go
import { goQuote } from '@kube-rx/apimachinery';
import { readCrd } from '../../apiextensions/crd.ts';
import { statusErrors, validateCrd, validateCrdUpdate } from '../../apiextensions/validation/crd.ts';
import {
  assign,
  clone,
  type Draft,
  dict,
  dicts,
  ensure,
  get,
  has,
  num,
  put,
  semanticEqual,
  str,
  strings,
} from '../draft.ts';
import type { Strategy } from '../strategy.ts';
import { metadata, nameIsDnsSubdomain, validateObjectMetaUpdate } from '../validation/object-meta.ts';

const storageVersionOf = (object: Draft): string | undefined =>
  dicts(dict(object, 'spec'), 'versions')
    .filter((version) => version['storage'] === true)
    .map((version) => str(version, 'name'))[0];

/** The storage version is among the stored ones from the moment on in which it may be used. */
function noteStorageVersion(object: Draft): void {
  const version = storageVersionOf(object);
  if (version === undefined) return;
  const status = ensure(object, 'status');
  const stored = strings(status, 'storedVersions');
  if (!stored.includes(version)) put(status, 'storedVersions', [...stored, version]);
}

/** Without the gate CustomResourceFieldSelectors the field goes, unless the object had it before. */
function dropSelectableFields(object: Draft, old: Draft | undefined): void {
  const versions = (from: Draft): readonly Draft[] => dicts(dict(from, 'spec'), 'versions');
  if (old !== undefined && versions(old).some((version) => has(version, 'selectableFields'))) return;
  for (const version of versions(object)) delete version['selectableFields'];
}

export interface CrdStrategyOptions {
  /** Gate CustomResourceFieldSelectors. */
  readonly selectableFields: boolean;
}

export const crdStrategy = (gates: CrdStrategyOptions): Strategy => ({
  namespaced: false,
  allowUnconditionalUpdate: false,
  // Of the extension group: its metadata is checked by the rules of every API object, not by those of the built-in kinds.
  custom: true,
  // The rule about group and plural is in validateCreate, which sees the whole object.
  name: nameIsDnsSubdomain,
  prepareForCreate(object) {
    put(object, 'status', {});
    put(metadata(object), 'generation', 1);
    noteStorageVersion(object);
    if (!gates.selectableFields) dropSelectableFields(object, undefined);
  },
  validateCreate(object, errors) {
    const crd = readCrd(object);
    for (const field of ['generateName', 'name']) {
      const name = str(metadata(object), field);
      if (name === '' || name === `${crd.names.plural}.${crd.group}`) continue;
      errors.causes.push({
        reason: 'FieldValueInvalid',
        message: `Invalid value: ${goQuote(name)}: must be spec.names.plural+"."+spec.group`,
        field: `metadata.${field}`,
      });
    }
    errors.causes.push(...validateCrd(crd));
  },
  prepareForUpdate(object, old) {
    assign(object, 'status', clone(get(old, 'status')));
    if (!semanticEqual(get(object, 'spec'), get(old, 'spec'))) {
      put(metadata(object), 'generation', (num(metadata(old), 'generation') ?? 0) + 1);
    }
    noteStorageVersion(object);
    if (!gates.selectableFields) dropSelectableFields(object, old);
  },
  validateUpdate(object, old, errors) {
    validateObjectMetaUpdate(metadata(object), metadata(old), errors);
    errors.causes.push(...validateCrdUpdate(readCrd(object), readCrd(old)));
  },
  subresources: {
    status: {
      prepareForUpdate(object, old) {
        assign(object, 'spec', clone(get(old, 'spec')));
      },
      validateUpdate(object, old, errors) {
        validateObjectMetaUpdate(metadata(object), metadata(old), errors);
        errors.causes.push(...statusErrors(readCrd(object)));
      },
    },
  },
  resetFields: { '': [['status']], status: [['metadata'], ['spec']] },
});
