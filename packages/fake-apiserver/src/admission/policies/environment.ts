// What the expressions of a policy may name, and of which types that is.
// Upstream: apiserver@v0.30.3:pkg/admission/plugin/cel/compile.go#BuildRequestType, BuildNamespaceType
import { objectType } from '../../apiextensions/cel/decl-type.ts';
import { AUTHORIZER } from '../../apiextensions/cel/declarations.ts';
import { BOOL, type CelType, DYN, INT, listOf, mapOf, STRING, TIMESTAMP } from '../../apiextensions/cel/types.ts';

const TEXTS = listOf(STRING);
const TEXT_MAP = mapOf(STRING, STRING);
const KIND = objectType('kubernetes.GroupVersionKind', { group: STRING, version: STRING, kind: STRING });
const RESOURCE = objectType('kubernetes.GroupVersionResource', { group: STRING, version: STRING, resource: STRING });
const USER = objectType('kubernetes.UserInfo', {
  username: STRING,
  uid: STRING,
  groups: TEXTS,
  extra: mapOf(STRING, TEXTS),
});

/** The object of the request is a variable of its own, not a field. */
const REQUEST = objectType('kubernetes.AdmissionRequest', {
  kind: KIND,
  resource: RESOURCE,
  subResource: STRING,
  requestKind: KIND,
  requestResource: RESOURCE,
  requestSubResource: STRING,
  name: STRING,
  namespace: STRING,
  operation: STRING,
  userInfo: USER,
  dryRun: BOOL,
  options: DYN,
});

const CONDITION = objectType('kubernetes.NamespaceCondition', {
  status: STRING,
  type: STRING,
  lastTransitionTime: TIMESTAMP,
  message: STRING,
  reason: STRING,
});

const NAMESPACE = objectType('kubernetes.Namespace', {
  metadata: objectType('kubernetes.NamespaceMetadata', {
    name: STRING,
    generateName: STRING,
    namespace: STRING,
    labels: TEXT_MAP,
    annotations: TEXT_MAP,
    // Upstream spells it so here, and `uid` in the data: it cannot be read at all.
    UID: STRING,
    creationTimestamp: TIMESTAMP,
    deletionGracePeriodSeconds: INT,
    deletionTimestamp: TIMESTAMP,
    generation: INT,
    resourceVersion: STRING,
    finalizers: TEXTS,
  }),
  spec: objectType('kubernetes.NamespaceSpec', { finalizers: TEXTS }),
  status: objectType('kubernetes.NamespaceStatus', { conditions: listOf(CONDITION), phase: STRING }),
});

export interface EnvironmentOptions {
  /** Only policies with a paramKind know `params`. */
  readonly hasParams: boolean;
  /** Expressions of messages do not know `authorizer`. */
  readonly hasAuthorizer: boolean;
  /** Types of the variables declared so far; undefined where there are none to name. */
  readonly variables?: ReadonlyMap<string, CelType> | undefined;
}

export function environment({ hasParams, hasAuthorizer, variables }: EnvironmentOptions): ReadonlyMap<string, CelType> {
  const names = new Map<string, CelType>([
    ['object', DYN],
    ['oldObject', DYN],
    ['namespaceObject', NAMESPACE],
    ['request', REQUEST],
  ]);
  if (hasParams) names.set('params', DYN);
  if (hasAuthorizer) names.set('authorizer', AUTHORIZER);
  if (variables !== undefined)
    names.set('variables', objectType('kubernetes.variables', Object.fromEntries(variables)));
  return names;
}
