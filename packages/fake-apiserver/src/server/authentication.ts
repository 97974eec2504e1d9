// Who sends a request: bearer token, client certificate, or nobody in particular.
// Upstream: apiserver@v0.30.3:pkg/authentication/request/{bearertoken,x509,anonymous}, plugin token authenticators
import { timingSafeEqual } from 'node:crypto';
import { newUnauthorized } from '@kube-rx/apimachinery';
import type { HttpRequest } from '../endpoints/http.ts';
import type { UserInfo } from '../registry/rest.ts';

export const ALL_AUTHENTICATED = 'system:authenticated';
export const ALL_UNAUTHENTICATED = 'system:unauthenticated';
export const ANONYMOUS_USER = 'system:anonymous';
export const PRIVILEGED_GROUP = 'system:masters';

/** Undefined for a token it does not know. */
export type TokenAuthenticator = (token: string) => UserInfo | undefined | Promise<UserInfo | undefined>;

/** Tokens of a table, compared without giving away how much of one was right. */
export function staticTokens(tokens: ReadonlyMap<string, UserInfo>): TokenAuthenticator {
  const known = [...tokens].map(([token, user]) => ({ token: Buffer.from(token), user }));
  return (token) => {
    const given = Buffer.from(token);
    let found: UserInfo | undefined;
    for (const { token: one, user } of known)
      if (one.length === given.length && timingSafeEqual(one, given)) found = user;
    return found;
  };
}

export interface AuthenticatorOptions {
  /** Asked in order. */
  readonly tokens: readonly TokenAuthenticator[];
  /** Requests without credentials are those of `system:anonymous`; false refuses them. */
  readonly anonymous: boolean;
}

const unauthorized = (): Error => newUnauthorized('Unauthorized');
/** A subprotocol that starts so carries a bearer token, for browsers, which can set no header; it is never echoed. */
export const PROTOCOL_PREFIX: string = 'base64url.bearer.authorization.k8s.io.';

export class Authenticator {
  readonly #options: AuthenticatorOptions;

  constructor(options: AuthenticatorOptions) {
    this.#options = options;
  }

  /** Throws the 401 of credentials that are there but not good. */
  async authenticate(request: HttpRequest): Promise<UserInfo> {
    const { peer } = request;
    if (peer !== undefined && !peer.verified) throw unauthorized();
    if (peer !== undefined) return authenticated({ name: peer.commonName, groups: peer.organizations });
    const token = bearerToken(request.header('authorization')) ?? protocolToken(request);
    if (token !== undefined) {
      const user = await this.readToken(token);
      if (user === undefined) throw unauthorized();
      return user;
    }
    if (!this.#options.anonymous) throw unauthorized();
    return { name: ANONYMOUS_USER, groups: [ALL_UNAUTHENTICATED] };
  }

  /** Whose token it is, undefined when nobody knows it. */
  async readToken(token: string): Promise<UserInfo | undefined> {
    for (const known of this.#options.tokens) {
      const user = await known(token);
      if (user !== undefined) return authenticated(user);
    }
    return undefined;
  }
}

function authenticated(user: UserInfo): UserInfo {
  const { groups } = user;
  if (groups.includes(ALL_AUTHENTICATED) || groups.includes(ALL_UNAUTHENTICATED)) return user;
  return { ...user, groups: [...groups, ALL_AUTHENTICATED] };
}

/** The token of an Authorization header; undefined for another scheme or none. */
export function bearerToken(header: string | undefined): string | undefined {
  const parts = (header ?? '').trim().split(' ');
  if (parts.length < 2 || parts[0]!.toLowerCase() !== 'bearer') return undefined;
  return parts[1] === '' ? undefined : parts[1];
}

/** Browsers cannot set headers on a WebSocket, so the token may come as a subprotocol. */
function protocolToken(request: HttpRequest): string | undefined {
  if (request.upgrade === undefined) return undefined;
  const offered = (request.header('sec-websocket-protocol') ?? '').split(',').map((one) => one.trim());
  const tokens = offered.filter((one) => one.startsWith(PROTOCOL_PREFIX));
  const token = tokens[0]?.slice(PROTOCOL_PREFIX.length);
  if (token === undefined || token === '') return undefined;
  // One token, well encoded, and another protocol to answer with.
  const readable = /^[A-Za-z0-9_-]+$/.test(token) && token.length % 4 !== 1;
  if (tokens.length > 1 || !readable || offered.length === 1) throw unauthorized();
  return Buffer.from(token, 'base64url').toString();
}
