// Tokens of service accounts: signed claims, made on request and checked on use. The key lives as long as the server.
// Upstream: kubernetes@v1.30.3:pkg/serviceaccount/{jwt.go,claims.go}
// Differs: one ECDSA key per server life, so tokens do not outlive a restart.
import { createHash, generateKeyPairSync, type KeyObject, randomUUID, sign, verify } from 'node:crypto';
import type { Clock } from '@kube-rx/apimachinery';
import type { UserInfo } from '../rest.ts';

export const DEFAULT_ISSUER = 'https://kubernetes.default.svc.cluster.local';

export interface TokenSubject {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  /** What the token ends with: a pod, a secret or a node. */
  readonly bound?: { readonly kind: string; readonly name: string; readonly uid: string } | undefined;
}

export interface IssuedToken {
  readonly token: string;
  /** Milliseconds. */
  readonly expiresMs: number;
}

interface KubernetesClaims {
  readonly namespace: string;
  readonly serviceaccount: { readonly name: string; readonly uid: string };
  readonly [kind: string]: unknown;
}

interface Claims {
  readonly aud: readonly string[];
  readonly exp: number;
  readonly iat: number;
  readonly nbf: number;
  readonly iss: string;
  readonly sub: string;
  readonly jti: string;
  readonly 'kubernetes.io': KubernetesClaims;
}

const encode = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url');

function decode(text: string | undefined): unknown {
  try {
    return JSON.parse(Buffer.from(text ?? '', 'base64url').toString());
  } catch {
    return undefined;
  }
}

function isClaims(value: unknown): value is Claims {
  if (typeof value !== 'object' || value === null) return false;
  const { exp, aud, 'kubernetes.io': kubernetes } = value as Partial<Claims>;
  return typeof exp === 'number' && Array.isArray(aud) && typeof kubernetes?.serviceaccount?.name === 'string';
}

export class ServiceAccountTokens {
  readonly issuer: string;
  readonly #clock: Clock;
  #keys: { readonly privateKey: KeyObject; readonly publicKey: KeyObject; readonly id: string } | undefined;

  constructor(clock: Clock, issuer: string = DEFAULT_ISSUER) {
    this.#clock = clock;
    this.issuer = issuer;
  }

  #key(): { readonly privateKey: KeyObject; readonly publicKey: KeyObject; readonly id: string } {
    if (this.#keys === undefined) {
      const pair = generateKeyPairSync('ec', { namedCurve: 'P-256' });
      const der = pair.publicKey.export({ type: 'spki', format: 'der' });
      this.#keys = { ...pair, id: createHash('sha256').update(der).digest('base64url') };
    }
    return this.#keys;
  }

  /** Audiences of the token; none means the server itself. */
  issue(subject: TokenSubject, audiences: readonly string[], lifeSeconds: number): IssuedToken {
    const nowSeconds = Math.floor(this.#clock.now() / 1000);
    const { namespace, name, uid, bound } = subject;
    const claims: Claims = {
      aud: audiences.length === 0 ? [this.issuer] : audiences,
      exp: nowSeconds + lifeSeconds,
      iat: nowSeconds,
      iss: this.issuer,
      jti: randomUUID(),
      'kubernetes.io': {
        namespace,
        ...(bound === undefined ? {} : { [bound.kind.toLowerCase()]: { name: bound.name, uid: bound.uid } }),
        serviceaccount: { name, uid },
      },
      nbf: nowSeconds,
      sub: `system:serviceaccount:${namespace}:${name}`,
    };
    const { privateKey, id } = this.#key();
    const signed = `${encode({ alg: 'ES256', kid: id })}.${encode(claims)}`;
    const signature = sign('sha256', Buffer.from(signed), { key: privateKey, dsaEncoding: 'ieee-p1363' });
    return { token: `${signed}.${signature.toString('base64url')}`, expiresMs: (nowSeconds + lifeSeconds) * 1000 };
  }

  /**
   * The account behind a token. Undefined when the token is of another issuer, expired or for another audience; whether the
   * account still exists is the caller's question.
   */
  read(token: string): { readonly subject: TokenSubject; readonly user: UserInfo } | undefined {
    const [head, body, signature, ...rest] = token.split('.');
    if (head === undefined || body === undefined || signature === undefined || rest.length > 0) return undefined;
    const claims = decode(body);
    if (this.#keys === undefined || !isClaims(claims) || claims.iss !== this.issuer) return undefined;
    const key = { key: this.#keys.publicKey, dsaEncoding: 'ieee-p1363' } as const;
    if (!verify('sha256', Buffer.from(`${head}.${body}`), key, Buffer.from(signature, 'base64url'))) return undefined;
    const expired = claims.exp * 1000 <= this.#clock.now();
    if (expired || !claims.aud.includes(this.issuer)) return undefined;
    const { namespace, serviceaccount } = claims['kubernetes.io'];
    const { name, uid } = serviceaccount;
    return { subject: { namespace, name, uid }, user: serviceAccountUser(namespace, name, uid, claims.jti) };
  }
}

export function serviceAccountUser(namespace: string, name: string, uid: string, tokenId?: string): UserInfo {
  return {
    name: `system:serviceaccount:${namespace}:${name}`,
    uid,
    groups: ['system:serviceaccounts', `system:serviceaccounts:${namespace}`, 'system:authenticated'],
    ...(tokenId === undefined ? {} : { extra: { 'authentication.kubernetes.io/credential-id': [`JTI=${tokenId}`] } }),
  };
}
