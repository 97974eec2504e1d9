// What a custom resource in one version decides about its objects.
// Upstream: apiextensions-apiserver@v0.30.3:pkg/registry/customresource/strategy.go, status_strategy.go, validator.go

import type { StringSet } from '@kube-rx/apimachinery';
import { goQuote, isQualifiedName } from '@kube-rx/apimachinery';
import { type FieldError, invalid } from '../../apiextensions/field-error.ts';
import { type EmbeddedRules, validateEmbedded } from '../../apiextensions/schema/coercion.ts';
import { CorrelatedObject } from '../../apiextensions/validation/correlated-object.ts';
import { validateListTypes } from '../../apiextensions/validation/list-type.ts';
import { validateValue } from '../../apiextensions/validation/value-validator.ts';
import type { ApiObject } from '../../storage/api-object.ts';
import { assign, clone, type Draft, get, num, put, semanticEqual, str, strings } from '../draft.ts';
import type { Strategy, StrategyContext, UpdateStrategy } from '../strategy.ts';
import type { FieldErrors } from '../validation/field-errors.ts';
import { metadata, validateObjectMetaUpdate } from '../validation/object-meta.ts';
import type { CustomVersion } from './custom-version.ts';
import { scaleSpecErrors, scaleStatusErrors } from './scale-paths.ts';

const STANDARD_FINALIZERS: ReadonlySet<string> = new Set(['orphan', 'foregroundDeletion', 'kubernetes']);
const BLOCKING: ReadonlySet<string> = new Set([
  'FieldValueNotSupported',
  'FieldValueRequired',
  'FieldValueTooLong',
  'FieldValueTooMany',
  'FieldValueTypeInvalid',
]);

function typeMetaErrors(object: Draft, version: CustomVersion): FieldError[] {
  const errors: FieldError[] = [];
  const [kind, apiVersion] = [str(object, 'kind'), str(object, 'apiVersion')];
  if (kind !== version.kind) errors.push(invalid('kind', kind, `must be ${version.kind}`));
  if (apiVersion !== version.apiVersion)
    errors.push(invalid('apiVersion', apiVersion, `must be ${version.apiVersion}`));
  return errors;
}

/** CEL rules run only on objects whose shape is right; errors of the metadata count as well. */
function celErrors(
  version: CustomVersion,
  object: Draft,
  errors: FieldErrors,
  ctx: StrategyContext,
  old?: { readonly object: Draft; readonly correlation?: CorrelatedObject | undefined },
): FieldError[] {
  const { cel } = version;
  if (cel === undefined) return [];
  if (errors.causes.some((cause) => BLOCKING.has(cause.reason))) {
    const detail =
      'some validation rules were not checked because the object was invalid; correct the existing errors to complete validation';
    return [invalid(undefined, null, detail)];
  }
  const warn = (text: string): void => ctx.request.warn(text);
  return [
    ...cel.validate(undefined, version.schema, object, { old: old?.object, correlation: old?.correlation, warn }),
  ];
}

function finalizerWarnings(object: Draft, old: Draft | undefined): readonly string[] {
  const known = new Set(old === undefined ? [] : strings(metadata(old), 'finalizers'));
  const added = [...new Set(strings(metadata(object), 'finalizers'))].filter((name) => !known.has(name)).sort();
  return added.flatMap((name) => {
    const prefix = `metadata.finalizers: ${goQuote(name)}: `;
    const warnings = isQualifiedName(name).map((text) => prefix + text);
    if (name.includes('/') || STANDARD_FINALIZERS.has(name)) return warnings;
    const advice =
      'prefer a domain-qualified finalizer name to avoid accidental conflicts with other finalizer writers';
    return [...warnings, prefix + advice];
  });
}

function countCustomGeneration(object: Draft, old: Draft): void {
  const { metadata: _new, ...content } = object;
  const { metadata: _old, ...before } = old;
  if (semanticEqual(content, before)) return;
  put(metadata(object), 'generation', (num(metadata(old), 'generation') ?? 0) + 1);
}

function statusStrategy(version: CustomVersion): UpdateStrategy {
  const { schema } = version;
  return {
    prepareForUpdate(object, old) {
      const status = get(object, 'status');
      const managedFields = get(metadata(object), 'managedFields');
      for (const field of Object.keys(object)) delete object[field];
      for (const [field, value] of Object.entries(clone(old))) put(object, field, value);
      assign(object, 'status', status);
      assign(metadata(object), 'managedFields', managedFields);
    },
    validateUpdate(object, old, errors, ctx) {
      const wrong = typeMetaErrors(object, version);
      if (wrong.length > 0) return void errors.causes.push(...wrong);
      validateObjectMetaUpdate(metadata(object), metadata(old), errors);
      const statusSchema = schema.properties?.get('status');
      const status = get(object, 'status');
      if (status !== undefined && statusSchema !== undefined) {
        // Upstream validates the status alone, so paths lack their first step.
        errors.causes.push(...validateValue(status, statusSchema));
      }
      errors.causes.push(...scaleStatusErrors(object, version.subresources.scale));
      const lists = validateListTypes(object, schema);
      if (lists.length > 0 && validateListTypes(old, schema).length === 0) errors.causes.push(...lists);
      errors.causes.push(...celErrors(version, object, errors, ctx, { object: old }));
    },
  };
}

/** The strategy of one version; all versions of a kind share storage, not strategies. */
export function customStrategy(
  version: CustomVersion,
  namespaced: boolean,
  embedded: EmbeddedRules,
  selectableFields?: (object: ApiObject) => StringSet,
): Strategy {
  const { schema } = version;
  const hasStatus = version.subresources.status;
  const { scale } = version.subresources;
  return {
    namespaced,
    custom: true,
    allowUnconditionalUpdate: false,
    prepareForCreate(object) {
      if (hasStatus) delete object['status'];
      put(metadata(object), 'generation', 1);
    },
    validateCreate(object, errors, ctx) {
      const wrong = typeMetaErrors(object, version);
      // Upstream looks at nothing else then, not even at the metadata.
      if (wrong.length > 0) return void errors.causes.splice(0, errors.causes.length, ...wrong);
      errors.causes.push(
        ...validateValue(object, schema),
        ...scaleSpecErrors(object, scale),
        ...scaleStatusErrors(object, scale),
        ...validateEmbedded(object, schema, embedded),
        ...validateListTypes(object, schema),
      );
      errors.causes.push(...celErrors(version, object, errors, ctx));
    },
    warningsOnCreate: (object) => finalizerWarnings(object, undefined),
    prepareForUpdate(object, old) {
      if (hasStatus) assign(object, 'status', clone(get(old, 'status')));
      countCustomGeneration(object, old);
    },
    validateUpdate(object, old, errors, ctx) {
      const wrong = typeMetaErrors(object, version);
      if (wrong.length > 0) return void errors.causes.push(...wrong);
      validateObjectMetaUpdate(metadata(object), metadata(old), errors);
      const correlation = new CorrelatedObject(object, old, schema);
      errors.causes.push(
        ...validateValue(object, schema, { correlation }),
        ...scaleSpecErrors(object, scale),
        ...scaleStatusErrors(object, scale),
        ...validateEmbedded(object, schema, embedded),
      );
      if (validateListTypes(old, schema).length === 0) errors.causes.push(...validateListTypes(object, schema));
      errors.causes.push(...celErrors(version, object, errors, ctx, { object: old, correlation }));
    },
    warningsOnUpdate: finalizerWarnings,
    ...(selectableFields === undefined ? {} : { selectableFields }),
    subresources: hasStatus ? { status: statusStrategy(version) } : {},
    resetFields: hasStatus ? { '': [['status']], status: [['spec']] } : {},
  };
}
