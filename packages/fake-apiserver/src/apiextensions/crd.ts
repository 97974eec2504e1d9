// A CustomResourceDefinition read from its JSON: what the rest of this folder asks of one.
// Upstream: apiextensions-apiserver@v0.30.3:pkg/apis/apiextensions/v1/types.go, pkg/apihelpers/helpers.go
import { isObject, type JsonObject } from './schema/json.ts';

export interface CrdNames {
  readonly plural: string;
  readonly singular: string;
  readonly kind: string;
  readonly listKind: string;
  readonly shortNames: readonly string[];
  readonly categories: readonly string[];
}

export interface PrinterColumn {
  readonly name: string;
  readonly type: string;
  readonly format: string;
  readonly description: string;
  readonly priority: number;
  readonly jsonPath: string;
}

export interface ScaleSubresource {
  readonly specReplicasPath: string;
  readonly statusReplicasPath: string;
  readonly labelSelectorPath: string | undefined;
}

export interface Subresources {
  readonly status: boolean;
  readonly scale: ScaleSubresource | undefined;
}

export interface CrdVersion {
  readonly name: string;
  readonly served: boolean;
  readonly storage: boolean;
  readonly deprecated: boolean;
  readonly deprecationWarning: string | undefined;
  /** The openAPIV3Schema. */
  readonly schema: JsonObject | undefined;
  readonly subresources: Subresources | undefined;
  readonly columns: readonly PrinterColumn[];
  /** JSON paths of the fields that field selectors may name. */
  readonly selectableFields: readonly string[];
  readonly raw: JsonObject;
}

export type ConditionStatus = 'True' | 'False' | 'Unknown';

export interface CrdCondition {
  readonly type: string;
  readonly status: ConditionStatus;
  readonly reason: string;
  readonly message: string;
  readonly lastTransitionTime?: string;
}

export interface Crd {
  readonly name: string;
  readonly uid: string;
  readonly deleting: boolean;
  readonly annotations: JsonObject;
  readonly finalizers: readonly string[];
  readonly group: string;
  readonly scope: string;
  readonly names: CrdNames;
  readonly versions: readonly CrdVersion[];
  /** An empty list counts: Go prints it in another way than a missing one. */
  readonly hasVersions: boolean;
  /** Undefined when the object has none; defaulting makes one. */
  readonly conversion: JsonObject | undefined;
  readonly preserveUnknownFields: boolean;
  readonly acceptedNames: CrdNames;
  readonly conditions: readonly CrdCondition[];
  readonly storedVersions: readonly string[];
}

const object = (value: unknown): JsonObject => (isObject(value) ? value : {});
const text = (value: unknown): string => (typeof value === 'string' ? value : '');
const list = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);
const strings = (value: unknown): readonly string[] => list(value).filter((item) => typeof item === 'string');

export function readNames(value: unknown): CrdNames {
  const names = object(value);
  return {
    plural: text(names['plural']),
    singular: text(names['singular']),
    kind: text(names['kind']),
    listKind: text(names['listKind']),
    shortNames: strings(names['shortNames']),
    categories: strings(names['categories']),
  };
}

function readSubresources(value: unknown): Subresources | undefined {
  if (!isObject(value)) return undefined;
  const scale = value['scale'];
  return {
    status: isObject(value['status']),
    scale: isObject(scale)
      ? {
          specReplicasPath: text(scale['specReplicasPath']),
          statusReplicasPath: text(scale['statusReplicasPath']),
          labelSelectorPath: typeof scale['labelSelectorPath'] === 'string' ? scale['labelSelectorPath'] : undefined,
        }
      : undefined,
  };
}

function readColumn(value: unknown): PrinterColumn {
  const column = object(value);
  return {
    name: text(column['name']),
    type: text(column['type']),
    format: text(column['format']),
    description: text(column['description']),
    priority: typeof column['priority'] === 'number' ? column['priority'] : 0,
    jsonPath: text(column['jsonPath']),
  };
}

function readVersion(value: unknown): CrdVersion {
  const version = object(value);
  const schema = object(version['schema'])['openAPIV3Schema'];
  return {
    name: text(version['name']),
    served: version['served'] === true,
    storage: version['storage'] === true,
    deprecated: version['deprecated'] === true,
    deprecationWarning: typeof version['deprecationWarning'] === 'string' ? version['deprecationWarning'] : undefined,
    schema: isObject(schema) ? schema : undefined,
    subresources: readSubresources(version['subresources']),
    columns: list(version['additionalPrinterColumns']).map(readColumn),
    selectableFields: list(version['selectableFields']).map((field) => text(object(field)['jsonPath'])),
    raw: version,
  };
}

function readCondition(value: unknown): CrdCondition {
  const condition = object(value);
  const time = condition['lastTransitionTime'];
  return {
    type: text(condition['type']),
    status: text(condition['status']) as ConditionStatus,
    reason: text(condition['reason']),
    message: text(condition['message']),
    ...(typeof time === 'string' ? { lastTransitionTime: time } : {}),
  };
}

export const readConditions = (status: unknown): readonly CrdCondition[] =>
  list(object(status)['conditions']).map(readCondition);

/** Reads a CRD in v1; whatever is missing or of a wrong type is empty. */
export function readCrd(crd: JsonObject): Crd {
  const metadata = object(crd['metadata']);
  const spec = object(crd['spec']);
  const status = object(crd['status']);
  return {
    name: text(metadata['name']),
    uid: text(metadata['uid']),
    deleting: typeof metadata['deletionTimestamp'] === 'string',
    annotations: object(metadata['annotations']),
    finalizers: strings(metadata['finalizers']),
    group: text(spec['group']),
    scope: text(spec['scope']),
    names: readNames(spec['names']),
    versions: list(spec['versions']).map(readVersion),
    hasVersions: Array.isArray(spec['versions']),
    conversion: isObject(spec['conversion']) ? spec['conversion'] : undefined,
    preserveUnknownFields: spec['preserveUnknownFields'] === true,
    acceptedNames: readNames(status['acceptedNames']),
    conditions: readConditions(status),
    storedVersions: strings(status['storedVersions']),
  };
}

export const CLEANUP_FINALIZER = 'customresourcecleanup.apiextensions.k8s.io';

export const findCondition = (crd: Pick<Crd, 'conditions'>, type: string): CrdCondition | undefined =>
  crd.conditions.find((condition) => condition.type === type);

export const isConditionTrue = (crd: Pick<Crd, 'conditions'>, type: string): boolean =>
  findCondition(crd, type)?.status === 'True';

/** The conditions with one set; the time of transition moves only when the status changes. */
export function withCondition(
  conditions: readonly CrdCondition[],
  next: CrdCondition,
  now: string,
): readonly CrdCondition[] {
  const old = conditions.find((condition) => condition.type === next.type);
  if (old === undefined) return [...conditions, { ...next, lastTransitionTime: now }];
  const keepsTime = old.status === next.status && old.lastTransitionTime !== undefined;
  const made = { ...next, lastTransitionTime: keepsTime ? old.lastTransitionTime! : now };
  return conditions.map((condition) => (condition === old ? made : condition));
}
