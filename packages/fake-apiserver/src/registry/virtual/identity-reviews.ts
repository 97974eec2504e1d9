// Who am I, whose token is this, and what may I do here.
// Upstream: kubernetes@v1.30.3:pkg/registry/authentication, pkg/registry/authorization/selfsubjectrulesreview/rest.go
import { type Clock, newBadRequest } from '@kube-rx/apimachinery';
import type { ApiObject } from '../../storage/api-object.ts';
import { clone, type Draft, dict, put, str, strings } from '../draft.ts';
import type { RequestContext, ResourceInfo, UserInfo, VirtualResource } from '../rest.ts';
import { formatTime } from '../time-form.ts';

type Shape = (object: Draft) => ApiObject;

function userInfo({ name, uid, groups, extra }: UserInfo): Draft {
  return {
    username: name,
    ...(uid ? { uid } : {}),
    ...(groups.length === 0 ? {} : { groups }),
    ...(extra === undefined || Object.keys(extra).length === 0 ? {} : { extra }),
  };
}

export class SelfReview implements VirtualResource {
  readonly info: ResourceInfo;
  readonly #clock: Clock;
  readonly #shape: Shape;

  constructor(info: ResourceInfo, clock: Clock, shape: Shape) {
    this.info = info;
    this.#clock = clock;
    this.#shape = shape;
  }

  async create(ctx: RequestContext): Promise<ApiObject> {
    return this.#shape({
      metadata: { creationTimestamp: formatTime(this.#clock.now()) },
      status: { userInfo: userInfo(ctx.user) },
    });
  }
}

/** Undefined for a token nobody knows; `audiences` are those of the token. */
export type TokenReader = (
  token: string,
) => Promise<{ readonly user: UserInfo; readonly audiences?: readonly string[] } | undefined>;

export class TokenReview implements VirtualResource {
  readonly info: ResourceInfo;
  readonly #read: () => TokenReader;
  readonly #issuer: string;
  readonly #shape: Shape;

  constructor(info: ResourceInfo, read: () => TokenReader, issuer: string, shape: Shape) {
    this.info = info;
    this.#read = read;
    this.#issuer = issuer;
    this.#shape = shape;
  }

  async create(_ctx: RequestContext, object: ApiObject): Promise<ApiObject> {
    const review = clone(object) as unknown as Draft;
    const spec = dict(review, 'spec');
    const token = str(spec, 'token');
    if (token === '') throw newBadRequest('token is required for TokenReview in authentication');
    const asked = strings(spec, 'audiences');
    const wanted = asked.length === 0 ? [this.#issuer] : asked;
    const known = await this.#read()(token);
    const audiences = (known?.audiences ?? [this.#issuer]).filter((one) => wanted.includes(one));
    if (known === undefined || audiences.length === 0) {
      const error = known === undefined ? 'invalid bearer token' : 'unable to verify the audiences of the token';
      put(review, 'status', { user: {}, error: known === undefined ? `[${error}]` : error });
    } else put(review, 'status', { authenticated: true, user: userInfo(known.user), audiences });
    return this.#shape(review);
  }
}

/** Rules of a user in a namespace as policy rules. */
export type RuleResolver = (
  user: UserInfo,
  namespace: string,
) => Promise<{ readonly rules: readonly Draft[]; readonly problems: readonly string[] }>;

export class RulesReview implements VirtualResource {
  readonly info: ResourceInfo;
  readonly #rulesFor: () => RuleResolver;
  readonly #shape: Shape;

  constructor(info: ResourceInfo, rulesFor: () => RuleResolver, shape: Shape) {
    this.info = info;
    this.#rulesFor = rulesFor;
    this.#shape = shape;
  }

  async create(ctx: RequestContext, object: ApiObject): Promise<ApiObject> {
    const namespace = str(dict(object as unknown as Draft, 'spec'), 'namespace');
    if (namespace === '') throw newBadRequest('no namespace on request');
    const { rules, problems } = await this.#rulesFor()(ctx.user, namespace);
    const part = (rule: Draft, fields: readonly string[]): Draft =>
      Object.fromEntries(fields.flatMap((field) => (strings(rule, field).length === 0 ? [] : [[field, rule[field]]])));
    const resources = rules.filter((rule) => strings(rule, 'resources').length > 0);
    const paths = rules.filter((rule) => strings(rule, 'nonResourceURLs').length > 0);
    return this.#shape({
      metadata: {},
      spec: {},
      status: {
        resourceRules: resources.map((rule) => part(rule, ['verbs', 'apiGroups', 'resources', 'resourceNames'])),
        nonResourceRules: paths.map((rule) => part(rule, ['verbs', 'nonResourceURLs'])),
        incomplete: false,
        ...(problems.length === 0 ? {} : { evaluationError: problems.join(', ') }),
      },
    });
  }
}
