// Which rules hold for a CRD: all for a new one; for a changed one those its old self kept.
// Upstream: apiextensions-apiserver@v0.30.3:pkg/apis/apiextensions/validation/validation.go#validationOptions
import type { Crd } from '../crd.ts';
import { jsonEqual, semanticEqual } from '../schema/json.ts';
import { pruneUnknownFields } from '../schema/pruning.ts';
import { type Structural, schemaHas } from '../schema/structural.ts';
import { type InternalSpec, schemasOf } from './internal-spec.ts';
import { mapListKeyErrors } from './openapi-schema.ts';
import { validateStructural } from './validate-structural.ts';

export interface CrdRules {
  readonly requireRecognizedConversionReviewVersion: boolean;
  readonly requireOpenApiSchema: boolean;
  readonly requireValidPropertyType: boolean;
  readonly requireStructuralSchema: boolean;
  readonly requirePrunedDefaults: boolean;
  readonly requireAtomicSetType: boolean;
  readonly requireMapListKeysMapSetValidation: boolean;
  readonly versionsWithUnchangedSchemas: ReadonlySet<string>;
  readonly suppressPerExpressionCost: boolean;
}

export const createRules: CrdRules = {
  requireRecognizedConversionReviewVersion: true,
  requireOpenApiSchema: true,
  requireValidPropertyType: true,
  requireStructuralSchema: true,
  requirePrunedDefaults: true,
  requireAtomicSetType: true,
  requireMapListKeysMapSetValidation: true,
  versionsWithUnchangedSchemas: new Set(),
  suppressPerExpressionCost: false,
};

const TYPES: ReadonlySet<string> = new Set(['string', 'number', 'integer', 'boolean', 'array', 'object']);
export const REVIEW_VERSIONS: readonly string[] = ['v1', 'v1beta1'];

const hasNonAtomicSet = ({ listType, items }: Structural): boolean => {
  if (listType !== 'set' || items === undefined) return false;
  if (items.type === 'array') return items.listType !== undefined && items.listType !== 'atomic';
  return items.type === 'object' && items.mapType !== 'atomic';
};

const hasUnprunedDefault = (node: Structural): boolean =>
  node.hasDefault && !jsonEqual(pruneUnknownFields(node.default, node, node.embeddedResource).value, node.default);

/** The rules for the next state of a CRD. */
export function updateRules(old: InternalSpec, next: Crd): CrdRules {
  const schemas = schemasOf(old);
  const none = (predicate: (node: Structural) => boolean): boolean =>
    !schemas.some((schema) => schemaHas(schema, predicate));
  const review = old.conversion?.reviewVersions ?? [];
  const unchanged = next.versions.filter((version) => {
    const before = old.crd.versions.find((each) => each.name === version.name);
    return before !== undefined && semanticEqual(before.schema, version.schema);
  });
  return {
    requireRecognizedConversionReviewVersion:
      review.length === 0 || review.some((version) => REVIEW_VERSIONS.includes(version)),
    requireOpenApiSchema: old.crd.versions.every((version) => version.schema !== undefined),
    requireValidPropertyType: none(
      (node) => node.type !== undefined && (node.type as string) !== '' && !TYPES.has(node.type),
    ),
    requireStructuralSchema: schemas.every((schema) => validateStructural(schema, undefined).length === 0),
    requirePrunedDefaults: none(hasUnprunedDefault),
    requireAtomicSetType: none(hasNonAtomicSet),
    requireMapListKeysMapSetValidation: none((node) => mapListKeyErrors(node, '').length > 0),
    versionsWithUnchangedSchemas: new Set(unchanged.map((version) => version.name)),
    suppressPerExpressionCost: false,
  };
}
