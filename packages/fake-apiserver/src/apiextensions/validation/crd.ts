// Validation of a CustomResourceDefinition, apart from its metadata.
// Upstream: apiextensions-apiserver@v0.30.3:pkg/apis/apiextensions/validation/validation.go
import { isDNS1035Label, isDNS1123Subdomain } from '@kube-rx/apimachinery';
import { validateApproval } from '../api-approval.ts';
import { type Crd, isConditionTrue } from '../crd.ts';
import { child, type FieldError, index, invalid, notSupported, required } from '../field-error.ts';
import { semanticEqual } from '../schema/json.ts';
import { type Structural, schemaHas } from '../schema/structural.ts';
import { conversionErrors } from './conversion.ts';
import { type CrdRules, createRules, updateRules } from './crd-rules.ts';
import { goStringList, goVersions } from './go-crd.ts';
import { type InternalSpec, internalSpec, schemasOf, subresourcesOf } from './internal-spec.ts';
import { selectableFieldErrors } from './selectable-fields.ts';
import { columnErrors, namesErrors, subresourceErrors } from './spec-parts.ts';
import { versionSchemaErrors } from './version-schema.ts';

/** Errors of a new CRD. */
export function validateCrd(crd: Crd): FieldError[] {
  return [
    ...specErrors(internalSpec(crd), createRules),
    ...statusErrors(crd),
    ...storedVersionErrors(crd),
    ...validateApproval(crd, undefined),
    ...preserveErrors(crd, undefined),
  ];
}

/** Errors of a changed CRD; what the old one did wrong may stay wrong. */
export function validateCrdUpdate(crd: Crd, old: Crd): FieldError[] {
  const rules = updateRules(internalSpec(old), crd);
  const errors = specErrors(internalSpec(crd), rules);
  const immutable = (now: unknown, before: unknown, path: string): void => {
    if (!semanticEqual(now, before)) errors.push(invalid(path, now, 'field is immutable'));
  };
  if (isConditionTrue(old, 'Established')) {
    immutable(crd.scope, old.scope, 'spec.scope');
    immutable(crd.names.kind, old.names.kind, 'spec.names.kind');
  }
  immutable(crd.group, old.group, 'spec.group');
  immutable(crd.names.plural, old.names.plural, 'spec.names.plural');
  return [
    ...errors,
    ...statusErrors(crd),
    ...storedVersionErrors(crd),
    ...validateApproval(crd, old),
    ...preserveErrors(crd, old),
  ];
}

/** Errors of a new status. */
export function statusErrors(crd: Crd): FieldError[] {
  return namesErrors(crd.acceptedNames, 'status.acceptedNames');
}

function preserveErrors(crd: Crd, old: Crd | undefined): FieldError[] {
  if (old?.preserveUnknownFields || !crd.preserveUnknownFields) return [];
  const detail =
    'cannot set to true, set x-kubernetes-preserve-unknown-fields to true in spec.versions[*].schema instead';
  return [invalid('spec.preserveUnknownFields', true, detail)];
}

function storedVersionErrors(crd: Crd): FieldError[] {
  const path = 'status.storedVersions';
  const { storedVersions } = crd;
  if (storedVersions.length === 0)
    return [invalid(path, goStringList(undefined), 'must have at least one stored version')];
  const left = new Map(storedVersions.map((name, position) => [name, position]));
  const errors: FieldError[] = [];
  for (const { name, storage } of crd.versions) {
    if (!left.delete(name) && storage) {
      errors.push(invalid(path, goStringList(storedVersions), `must have the storage version ${name}`));
    }
  }
  for (const [name, position] of left) {
    errors.push(invalid(index(path, position), name, 'must appear in spec.versions'));
  }
  return errors;
}

function groupErrors(group: string): FieldError[] {
  const path = 'spec.group';
  if (group === '') return [required(path, '')];
  const wrong = isDNS1123Subdomain(group);
  if (wrong.length > 0) return [invalid(path, group, wrong.join(','))];
  return group.includes('.') ? [] : [invalid(path, group, 'should be a domain with at least one dot')];
}

function scopeErrors(scope: string): FieldError[] {
  if (scope === '') return [required('spec.scope', '')];
  return ['Cluster', 'Namespaced'].includes(scope)
    ? []
    : [notSupported('spec.scope', scope, ['Cluster', 'Namespaced'])];
}

const hasExtensions = (schema: Structural): boolean =>
  schema.embeddedResource ||
  'x-kubernetes-preserve-unknown-fields' in schema.raw ||
  schema.intOrString ||
  schema.listMapKeys.length > 0 ||
  schema.listType !== undefined ||
  schema.validations.length > 0;

function specErrors(spec: InternalSpec, given: CrdRules): FieldError[] {
  const { crd } = spec;
  const errors: FieldError[] = [...groupErrors(crd.group), ...scopeErrors(crd.scope)];
  const schemas = schemasOf(spec);
  const rules: CrdRules = {
    ...given,
    requireStructuralSchema:
      given.requireStructuralSchema ||
      !crd.preserveUnknownFields ||
      schemas.some((schema) => schemaHas(schema, hasExtensions)),
  };
  if (spec.schema === undefined) errors.push(...missingSchemaErrors(spec, rules));
  const hasDefaults = schemas.some((schema) => schemaHas(schema, (node) => node.hasDefault));
  if (hasDefaults && crd.preserveUnknownFields) {
    errors.push(invalid('spec.preserveUnknownFields', true, 'must be false in order to use defaults in the schema'));
  }
  errors.push(...versionErrors(spec, rules), ...versionListErrors(spec));
  for (const name of ['plural', 'singular', 'kind', 'listKind'] as const) {
    if (crd.names[name] === '') errors.push(required(`spec.names.${name}`, ''));
  }
  errors.push(...namesErrors(crd.names, 'spec.names'));
  if (spec.schema !== undefined) {
    const anyStatus =
      spec.subresources?.status === true || spec.versions.some((version) => version.subresources?.status);
    const unchanged = rules.versionsWithUnchangedSchemas.has(crd.versions[0]?.name ?? '');
    errors.push(
      ...versionSchemaErrors(spec.schema, 'spec.validation', anyStatus, {
        ...rules,
        suppressPerExpressionCost: unchanged,
      }),
    );
  }
  errors.push(...subresourceErrors(spec.subresources, 'spec.subresources'));
  errors.push(...columnErrors(spec.columns, 'spec.additionalPrinterColumns'));
  errors.push(
    ...selectableFieldErrors(
      spec.selectableFields,
      spec.schema,
      'spec.selectableFields',
      'selectableFields may only be set when validations.schema is included',
    ),
  );
  errors.push(...conversionErrors(spec, rules));
  return errors;
}

function missingSchemaErrors(spec: InternalSpec, rules: CrdRules): FieldError[] {
  const reason = rules.requireOpenApiSchema ? 'schemas are required' : 'because otherwise all fields are pruned';
  return spec.versions.flatMap(({ version, schema }, position) => {
    const needed = rules.requireOpenApiSchema || (version.served && !spec.crd.preserveUnknownFields);
    return schema !== undefined || !needed
      ? []
      : [required(`spec.versions[${position}].schema.openAPIV3Schema`, reason)];
  });
}

function versionErrors(spec: InternalSpec, rules: CrdRules): FieldError[] {
  return spec.versions.flatMap((each, position) => {
    const { version } = each;
    const path = `spec.versions[${position}]`;
    const wrongName = isDNS1035Label(version.name);
    const errors = wrongName.length === 0 ? [] : [invalid(child(path, 'name'), version.name, wrongName.join(','))];
    for (const detail of deprecationErrors(version.deprecated, version.deprecationWarning)) {
      errors.push(invalid(child(path, 'deprecationWarning'), version.deprecationWarning, detail));
    }
    if (each.schema !== undefined) {
      const status = subresourcesOf(spec, each)?.status === true;
      const unchanged = rules.versionsWithUnchangedSchemas.has(version.name);
      errors.push(
        ...versionSchemaErrors(each.schema, child(path, 'schema'), status, {
          ...rules,
          suppressPerExpressionCost: unchanged,
        }),
      );
    }
    errors.push(...subresourceErrors(each.subresources, child(path, 'subresources')));
    errors.push(...columnErrors(each.columns, child(path, 'additionalPrinterColumns')));
    // Upstream's words say the opposite of what it means.
    const withoutSchema = 'selectableFields may only be set when version.schema.openAPIV3Schema is not included';
    const at = child(path, 'selectableFields');
    errors.push(...selectableFieldErrors(each.selectableFields, each.schema, at, withoutSchema));
    return errors;
  });
}

function deprecationErrors(deprecated: boolean, warning: string | undefined): string[] {
  if (warning === undefined) return [];
  if (!deprecated) return ['can only be set for deprecated versions'];
  const errors: string[] = [];
  if (Buffer.byteLength(warning) > 256) errors.push('must be <= 256 characters long');
  if (warning === '') errors.push('must not be an empty string');
  let at = 0;
  for (const char of warning) {
    if (char !== ' ' && !/^[\p{L}\p{M}\p{N}\p{P}\p{S}]$/u.test(char)) {
      errors.push(`must only contain printable UTF-8 characters; non-printable character found at index ${at}`);
      break;
    }
    at += Buffer.byteLength(char);
  }
  return errors;
}

function versionListErrors(spec: InternalSpec): FieldError[] {
  const { versions } = spec.crd;
  const errors: FieldError[] = [];
  const path = 'spec.versions';
  // Fields that some versions share and others lack were lifted already, so no other rule of the top level can break.
  if (new Set(versions.map((version) => version.name)).size !== versions.length) {
    errors.push(invalid(path, goVersions(spec), 'must contain unique version names'));
  }
  if (versions.filter((version) => version.storage).length !== 1) {
    errors.push(invalid(path, goVersions(spec), 'must have exactly one version marked as storage version'));
  }
  const first = versions[0];
  if (first !== undefined && first.name !== '') {
    const wrong = isDNS1035Label(first.name);
    if (wrong.length > 0) errors.push(invalid('spec.version', first.name, wrong.join(',')));
  }
  return errors;
}
