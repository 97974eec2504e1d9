// Access reviews: may this user do that?
// Upstream: kubernetes@v1.30.3:pkg/registry/authorization, pkg/apis/authorization/validation/validation.go
import { newBadRequest, newInvalid } from '@kube-rx/apimachinery';
import type { ApiObject } from '../../storage/api-object.ts';
import { clone, type Draft, dict, entries, has, isDraft, put, str, strings } from '../draft.ts';
import type { AccessAttributes, AccessAuthorizer } from '../rbac/attributes.ts';
import type { RequestContext, ResourceInfo, UserInfo, VirtualResource, WriteCall } from '../rest.ts';
import { FieldErrors, path } from '../validation/field-errors.ts';
import { metadata } from '../validation/object-meta.ts';

export type ReviewKind = 'SubjectAccessReview' | 'SelfSubjectAccessReview' | 'LocalSubjectAccessReview';

const SPEC = path('spec');

/** Fields of the metadata that a review may not have. */
function metadataSet(meta: Draft, allowed: readonly string[]): boolean {
  return Object.keys(meta).some((key) => {
    const value = meta[key];
    const empty = value === null || value === '' || (isDraft(value) && Object.keys(value).length === 0);
    return !empty && !allowed.includes(key);
  });
}

function validate(review: Draft, kind: ReviewKind): void {
  const errors = new FieldErrors();
  const spec = dict(review, 'spec');
  const [resource, path_] = [dict(spec, 'resourceAttributes'), dict(spec, 'nonResourceAttributes')];
  if (resource !== undefined && path_ !== undefined) {
    errors.invalid(
      SPEC.child('nonResourceAttributes'),
      path_,
      'cannot be specified in combination with resourceAttributes',
    );
  }
  if (resource === undefined && path_ === undefined) {
    errors.invalid(
      SPEC.child('resourceAttributes'),
      null,
      'exactly one of nonResourceAttributes or resourceAttributes must be specified',
    );
  }
  if (kind !== 'SelfSubjectAccessReview' && str(spec, 'user') === '' && strings(spec, 'groups').length === 0)
    errors.invalid(SPEC.child('user'), '', 'at least one of user or group must be specified');
  const local = kind === 'LocalSubjectAccessReview';
  const meta = metadata(review);
  if (metadataSet(meta, local ? ['managedFields', 'namespace'] : ['managedFields']))
    errors.invalid(path('metadata'), meta, local ? 'must be empty except for namespace' : 'must be empty');
  if (local) {
    const namespace = str(resource, 'namespace');
    if (resource !== undefined && namespace !== str(meta, 'namespace'))
      errors.invalid(SPEC.child('resourceAttributes', 'namespace'), namespace, 'must match metadata.namespace');
    if (path_ !== undefined)
      errors.invalid(SPEC.child('nonResourceAttributes'), path_, 'disallowed on this kind of request');
  }
  if (!errors.empty) throw newInvalid({ group: 'authorization.k8s.io', kind }, '', errors.causes);
}

function userOf(spec: Draft | undefined): UserInfo {
  const extra = Object.fromEntries(
    entries(spec, 'extra').map(([key]) => [key, strings(dict(spec, 'extra'), key)] as const),
  );
  return { name: str(spec, 'user'), uid: str(spec, 'uid'), groups: strings(spec, 'groups'), extra };
}

function attributesOf(user: UserInfo, spec: Draft | undefined): AccessAttributes {
  const resource = dict(spec, 'resourceAttributes');
  const other = dict(spec, 'nonResourceAttributes');
  return {
    user,
    verb: str(resource ?? other, 'verb'),
    isResourceRequest: resource !== undefined,
    path: str(other, 'path'),
    apiGroup: str(resource, 'group'),
    apiVersion: str(resource, 'version'),
    namespace: str(resource, 'namespace'),
    resource: str(resource, 'resource'),
    subresource: str(resource, 'subresource'),
    name: str(resource, 'name'),
  };
}

export class AccessReview implements VirtualResource {
  readonly info: ResourceInfo;
  readonly #authorizer: () => AccessAuthorizer;
  readonly #shape: (object: Draft) => ApiObject;

  /** `shape` brings a review into the form its type prints. */
  constructor(info: ResourceInfo, authorizer: () => AccessAuthorizer, shape: (object: Draft) => ApiObject) {
    this.info = info;
    this.#authorizer = authorizer;
    this.#shape = shape;
  }

  async create(ctx: RequestContext, object: ApiObject, call: WriteCall): Promise<ApiObject> {
    const review = clone(object) as unknown as Draft;
    const kind = this.info.kind as ReviewKind;
    validate(review, kind);
    const namespace = str(metadata(review), 'namespace');
    if (kind === 'LocalSubjectAccessReview' && namespace !== call.namespace)
      throw newBadRequest(`spec.resourceAttributes.namespace must match namespace: ${call.namespace}`);
    const spec = dict(review, 'spec');
    const user = kind === 'SelfSubjectAccessReview' ? ctx.user : userOf(spec);
    const { allowed, reason } = await this.#authorizer().authorize(attributesOf(user, spec));
    put(review, 'status', { allowed, ...(reason === '' ? {} : { reason }) });
    if (!has(review, 'metadata')) put(review, 'metadata', {});
    return this.#shape(review);
  }
}
