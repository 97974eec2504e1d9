// Acting as somebody else: the Impersonate headers, each of them authorized.
// Upstream: apiserver@v0.30.3:pkg/endpoints/filters/impersonation.go
import type { HttpRequest } from '../endpoints/http.ts';
import { unescapeComponent } from '../endpoints/query.ts';
import type { UserInfo } from '../registry/rest.ts';
import { ALL_AUTHENTICATED, ALL_UNAUTHENTICATED, ANONYMOUS_USER } from './authentication.ts';
import { type Attributes, type Authorizer, forbidden } from './authorization.ts';

const EXTRA_PREFIX = 'impersonate-extra-';
const SERVICE_ACCOUNT_PREFIX = 'system:serviceaccount:';

/** The filter answers this one as bare text, before any API machinery. */
export class ImpersonationError extends Error {
  override readonly name = 'ImpersonationError';
}

interface Asked {
  readonly user: string;
  readonly groups: readonly string[];
  readonly uid: string;
  readonly extra: ReadonlyMap<string, readonly string[]>;
}

/** The user to act as: the requestor when no header asks for another. Throws a 403 or an ImpersonationError. */
export async function impersonate(
  request: HttpRequest,
  requestor: UserInfo,
  authorizer: Authorizer,
): Promise<UserInfo> {
  const asked = readHeaders(request);
  if (asked === undefined) return requestor;
  if (asked.user === '') throw new ImpersonationError(`requested ${printRefs(asked)} without impersonating a user`);
  const account = serviceAccountOf(asked.user);
  for (const attributes of checksOf(asked, requestor, account)) {
    const decision = await authorizer.authorize(attributes);
    if (!decision.allowed) throw forbidden(attributes, decision.reason);
  }
  let groups = [...asked.groups];
  if (account !== undefined && groups.length === 0) {
    groups = ['system:serviceaccounts', `system:serviceaccounts:${account.namespace}`];
  }
  const general = asked.user === ANONYMOUS_USER ? ALL_UNAUTHENTICATED : ALL_AUTHENTICATED;
  if (!groups.includes(ALL_AUTHENTICATED) && !groups.includes(ALL_UNAUTHENTICATED)) groups.push(general);
  return {
    name: asked.user,
    groups,
    ...(asked.uid === '' ? {} : { uid: asked.uid }),
    ...(asked.extra.size === 0 ? {} : { extra: Object.fromEntries(asked.extra) }),
  };
}

function readHeaders(request: HttpRequest): Asked | undefined {
  const user = request.header('impersonate-user') ?? '';
  const uid = request.header('impersonate-uid') ?? '';
  const groups = request.headerValues('impersonate-group').filter((group) => group !== '');
  const extra = new Map<string, readonly string[]>();
  for (const name of request.headerNames()) {
    if (!name.startsWith(EXTRA_PREFIX)) continue;
    const key = name.slice(EXTRA_PREFIX.length);
    extra.set(unescapeComponent(key, false) ?? key, request.headerValues(name));
  }
  if (user === '' && uid === '' && groups.length === 0 && extra.size === 0) return undefined;
  return { user, uid, groups, extra };
}

/** Object references as Go prints a list of them. */
function printRefs(asked: Asked): string {
  const refs = asked.groups.map((name) => `{Group  ${name}    }`);
  for (const [key, values] of asked.extra) for (const value of values) refs.push(`{UserExtra  ${value}    ${key}}`);
  if (asked.uid !== '') refs.push(`{UID  ${asked.uid}    }`);
  return `[${refs.join(' ')}]`;
}

function serviceAccountOf(user: string): { readonly namespace: string; readonly name: string } | undefined {
  if (!user.startsWith(SERVICE_ACCOUNT_PREFIX)) return undefined;
  const parts = user.slice(SERVICE_ACCOUNT_PREFIX.length).split(':');
  return parts.length === 2 && parts[0] !== '' && parts[1] !== ''
    ? { namespace: parts[0]!, name: parts[1]! }
    : undefined;
}

function* checksOf(
  asked: Asked,
  requestor: UserInfo,
  account: { readonly namespace: string; readonly name: string } | undefined,
): Generator<Attributes> {
  const base: Attributes = {
    user: requestor,
    verb: 'impersonate',
    isResourceRequest: true,
    path: '',
    apiGroup: '',
    apiVersion: 'v1',
    namespace: '',
    resource: 'users',
    subresource: '',
    name: asked.user,
  };
  yield account === undefined ? base : { ...base, resource: 'serviceaccounts', ...account };
  for (const name of asked.groups) yield { ...base, resource: 'groups', name };
  for (const [key, values] of asked.extra) {
    for (const name of values) {
      yield { ...base, apiGroup: 'authentication.k8s.io', resource: 'userextras', subresource: key, name };
    }
  }
  if (asked.uid !== '') yield { ...base, apiGroup: 'authentication.k8s.io', resource: 'uids', name: asked.uid };
}
