// The spec of a CRD as upstream validates it: what all versions have in common stands at the top, and is reported there.
// Upstream: apiextensions-apiserver@v0.30.3:pkg/apis/apiextensions/v1/conversion.go
import type { Crd, CrdVersion, PrinterColumn, Subresources } from '../crd.ts';
import { fromEntries, getField, isObject, type JsonObject, jsonEqual, semanticEqual } from '../schema/json.ts';
import { newStructural, type Structural } from '../schema/structural.ts';

export interface InternalVersion {
  readonly version: CrdVersion;
  readonly schema: Structural | undefined;
  readonly subresources: Subresources | undefined;
  readonly columns: readonly PrinterColumn[];
  readonly selectableFields: readonly string[];
}

export interface InternalSpec {
  readonly crd: Crd;
  readonly schema: Structural | undefined;
  readonly subresources: Subresources | undefined;
  readonly columns: readonly PrinterColumn[];
  readonly selectableFields: readonly string[];
  readonly versions: readonly InternalVersion[];
  /** Webhook of the conversion, flattened. */
  readonly conversion: InternalConversion | undefined;
}

export interface InternalConversion {
  readonly strategy: string;
  readonly clientConfig: JsonObject | undefined;
  readonly reviewVersions: readonly string[];
}

function identical(versions: readonly CrdVersion[], field: string): boolean {
  const first = versions[0];
  if (first === undefined) return false;
  return versions.every((version) => semanticEqual(getField(version.raw, field), getField(first.raw, field)));
}

/** A schema without what says nothing. An empty schema says something where one is expected. */
function essence(value: unknown): unknown {
  if (!isObject(value)) return value;
  const out = Object.entries(value).flatMap(([name, field]): [string, unknown][] => {
    if (name === 'default' || name === 'additionalProperties') return [[name, essence(field)]];
    if (field === false || field === '' || field === null) return [];
    if (Array.isArray(field)) return field.length === 0 ? [] : [[name, field.map(essence)]];
    if (name !== 'properties' || !isObject(field)) return [[name, essence(field)]];
    const properties = Object.entries(field).map(([property, child]) => [property, essence(child)] as const);
    return properties.length === 0 ? [] : [[name, fromEntries(properties)]];
  });
  return fromEntries(out);
}

const sameSchemas = (a: JsonObject | undefined, b: JsonObject | undefined): boolean =>
  jsonEqual(essence(a) ?? null, essence(b) ?? null);

function conversionOf(raw: JsonObject | undefined): InternalConversion | undefined {
  if (raw === undefined) return undefined;
  const webhook = isObject(raw['webhook']) ? raw['webhook'] : undefined;
  const versions = webhook?.['conversionReviewVersions'];
  return {
    strategy: typeof raw['strategy'] === 'string' ? raw['strategy'] : '',
    clientConfig: isObject(webhook?.['clientConfig']) ? webhook['clientConfig'] : undefined,
    reviewVersions: Array.isArray(versions) ? versions.filter((item) => typeof item === 'string') : [],
  };
}

export function internalSpec(crd: Crd): InternalSpec {
  const { versions } = crd;
  const first = versions[0];
  const structural = (version: CrdVersion | undefined): Structural | undefined =>
    version?.schema === undefined ? undefined : newStructural(version.schema);
  const sameSchema = versions.every((version) => sameSchemas(version.schema, first?.schema));
  const sameSubresources = identical(versions, 'subresources');
  const sameColumns = identical(versions, 'additionalPrinterColumns');
  const sameFields = identical(versions, 'selectableFields');
  return {
    crd,
    schema: sameSchema ? structural(first) : undefined,
    subresources: sameSubresources ? first?.subresources : undefined,
    columns: sameColumns ? (first?.columns ?? []) : [],
    selectableFields: sameFields ? (first?.selectableFields ?? []) : [],
    versions: versions.map((version) => ({
      version,
      schema: sameSchema ? undefined : structural(version),
      subresources: sameSubresources ? undefined : version.subresources,
      columns: sameColumns ? [] : version.columns,
      selectableFields: sameFields ? [] : version.selectableFields,
    })),
    conversion: conversionOf(crd.conversion),
  };
}

/** Every schema of the spec. */
export function schemasOf(spec: InternalSpec): readonly Structural[] {
  return [spec.schema, ...spec.versions.map((version) => version.schema)].filter((schema) => schema !== undefined);
}

export function subresourcesOf(spec: InternalSpec, version: InternalVersion): Subresources | undefined {
  return spec.versions.some((each) => each.subresources !== undefined) ? version.subresources : spec.subresources;
}
