// A request as the expressions of a policy see it.
// Upstream: apiserver@v0.30.3:pkg/admission/plugin/cel/filter.go#CreateAdmissionRequest, CreateNamespaceObject
// Differs: `request.options` of creates and updates has no fieldManager and fieldValidation.
import type { GroupVersionKind, GroupVersionResource } from '@kube-rx/apimachinery';
import { CelAccessCheck, CelAuthorizer } from '../../apiextensions/cel/authorizer-library.ts';
import { CelList, CelMap, type CelValue } from '../../apiextensions/cel/values.ts';
import { type Draft, get, isDraft, put } from '../../registry/draft.ts';
import { metadata } from '../../registry/validation/object-meta.ts';
import type { AdmissionAttributes } from '../admission.ts';
import type { AuthorizerAnswers } from './authorizer-answers.ts';

/** JSON as CEL sees it without a schema. */
export function dynamicValue(value: unknown): CelValue {
  if (Array.isArray(value)) return new CelList(value.map(dynamicValue));
  if (isDraft(value)) {
    const present = Object.entries(value).filter(([, item]) => item !== undefined);
    return new CelMap(present.map(([key, item]) => [key, dynamicValue(item)] as const));
  }
  if (typeof value === 'number') return Number.isInteger(value) ? BigInt(value) : value;
  return typeof value === 'string' || typeof value === 'boolean' ? value : null;
}

/** In which version a policy sees the request. */
export interface Seen {
  readonly resource: GroupVersionResource;
  readonly kind: GroupVersionKind;
}

/** The fields of `parent` that say something. */
function filled(parent: Draft): Draft {
  const made: Draft = {};
  for (const [field, value] of Object.entries(parent)) {
    const empty = value === '' || value === undefined || (Array.isArray(value) && value.length === 0);
    if (!empty && !(isDraft(value) && Object.keys(value).length === 0)) put(made, field, value);
  }
  return made;
}

const OPTIONS: Readonly<Record<string, string>> = {
  CREATE: 'CreateOptions',
  UPDATE: 'UpdateOptions',
  DELETE: 'DeleteOptions',
};

function optionsOf({ operation, options, dryRun }: AdmissionAttributes): Draft | null {
  const kind = OPTIONS[operation];
  if (kind === undefined) return null;
  return { kind, apiVersion: 'meta.k8s.io/v1', ...filled({ ...options, ...(dryRun ? { dryRun: ['All'] } : {}) }) };
}

export function requestOf(attributes: AdmissionAttributes, seen: Seen): Draft {
  const { kind, resource, subresource, name, namespace, operation, dryRun, request } = attributes;
  const { user } = request;
  return {
    uid: '',
    kind: { ...seen.kind },
    resource: { ...seen.resource },
    requestKind: { ...kind },
    requestResource: { ...resource },
    ...filled({ subResource: subresource, requestSubResource: subresource, name, namespace }),
    operation,
    userInfo: filled({ username: user.name, uid: user.uid, groups: user.groups, extra: user.extra }),
    dryRun,
    options: optionsOf(attributes),
  };
}

const SHOWN_METADATA = [
  'name',
  'generateName',
  'namespace',
  'uid',
  'resourceVersion',
  'generation',
  'creationTimestamp',
  'deletionTimestamp',
  'deletionGracePeriodSeconds',
  'labels',
  'annotations',
  'finalizers',
];

/** Owners and managers of a namespace are not shown. */
export function namespaceOf(namespace: Draft): Draft {
  const meta: Draft = {};
  for (const field of SHOWN_METADATA) {
    const value = get(metadata(namespace), field);
    if (value !== undefined) put(meta, field, value);
  }
  return { metadata: meta, spec: get(namespace, 'spec') ?? {}, status: get(namespace, 'status') ?? {} };
}

export interface BindingsInput {
  readonly attributes: AdmissionAttributes;
  readonly seen: Seen;
  readonly object: Draft | undefined;
  readonly old: Draft | undefined;
  readonly namespace: Draft | undefined;
  /** Undefined for policies without a paramKind, null for bindings without a paramRef. */
  readonly params: Draft | null | undefined;
  readonly answers: AuthorizerAnswers;
}

/** Values of the variables; objects are converted once for all expressions. */
export function bindingsOf(input: BindingsInput): ReadonlyMap<string, CelValue> {
  const { attributes, seen, object, old, namespace, params, answers } = input;
  const { user } = attributes.request;
  const { resource, subresource, name } = attributes;
  const own = CelAccessCheck.ofResource(answers.ask, user, {
    apiGroup: resource.group,
    resource: resource.resource,
    subresource,
    namespace: attributes.namespace,
    name,
  });
  const bindings = new Map<string, CelValue>([
    ['object', dynamicValue(object)],
    ['oldObject', dynamicValue(old)],
    ['request', dynamicValue(requestOf(attributes, seen))],
    ['namespaceObject', namespace === undefined ? null : dynamicValue(namespaceOf(namespace))],
    ['authorizer', new CelAuthorizer(answers.ask, user, own)],
  ]);
  if (params !== undefined) bindings.set('params', dynamicValue(params));
  return bindings;
}
