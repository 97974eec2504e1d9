// Who may do what, asked once per request and once per impersonated name.
// Upstream: apiserver@v0.30.3:pkg/authorization/authorizer/interfaces.go, pkg/endpoints/handlers/responsewriters/errors.go#Forbidden
import { goQuote, newForbidden, type StatusError } from '@kube-rx/apimachinery';
import type { RequestInfo } from '../endpoints/request-info.ts';
import type { AccessAttributes, AccessAuthorizer, AccessDecision } from '../registry/rbac/attributes.ts';
import type { UserInfo } from '../registry/rest.ts';
import { PRIVILEGED_GROUP } from './authentication.ts';

export type Attributes = AccessAttributes;
export type Authorizer = AccessAuthorizer;

const ALLOW: AccessDecision = { allowed: true, reason: '' };
const NO_OPINION: AccessDecision = { allowed: false, reason: '' };

export const alwaysAllow: Authorizer = { authorize: () => ALLOW };

/** The first that allows decides; reasons of the others are joined. */
export function union(...authorizers: readonly Authorizer[]): Authorizer {
  return {
    async authorize(attributes) {
      const reasons: string[] = [];
      for (const authorizer of authorizers) {
        const decision = await authorizer.authorize(attributes);
        if (decision.allowed) return decision;
        if (decision.reason !== '') reasons.push(decision.reason);
      }
      return { allowed: false, reason: reasons.join('\n') };
    },
  };
}

/** Members of `system:masters` may do everything; health is for everybody, as `--authorization-always-allow-paths`. */
export const systemMasters: Authorizer = {
  authorize({ user, isResourceRequest, path }) {
    if (user.groups.includes(PRIVILEGED_GROUP)) return ALLOW;
    return !isResourceRequest && ['/healthz', '/livez', '/readyz'].includes(path) ? ALLOW : NO_OPINION;
  },
};

export function attributesOf(user: UserInfo, info: RequestInfo): Attributes {
  return { ...info, user };
}

export function forbidden(attributes: Attributes, reason: string): StatusError {
  const text = forbiddenText(attributes);
  const why = reason === '' ? text : `${text}: ${reason}`;
  return newForbidden({ group: attributes.apiGroup, resource: attributes.resource }, attributes.name, why);
}

function forbiddenText(attributes: Attributes): string {
  const { user, verb, path, apiGroup, namespace, subresource } = attributes;
  const who = `User ${goQuote(user.name)} cannot ${verb}`;
  if (!attributes.isResourceRequest) return `${who} path ${goQuote(path)}`;
  const resource = subresource === '' ? attributes.resource : `${attributes.resource}/${subresource}`;
  const what = `${who} resource ${goQuote(resource)} in API group ${goQuote(apiGroup)}`;
  return namespace === '' ? `${what} at the cluster scope` : `${what} in the namespace ${goQuote(namespace)}`;
}
