// Credentials of a request, as the REST client sees them; the sources are in config/.

/** Puts credentials on requests. */
export interface AuthProvider {
  /** Headers to add; asked before every try. */
  headers(): Promise<Readonly<Record<string, string>>> | Readonly<Record<string, string>>;
  /** The server said 401. True when fresh credentials may be at hand, so that one repetition makes sense. */
  rejected?(): boolean;
}

/** A token that never changes. */
export function bearerToken(token: string): AuthProvider {
  const headers = { authorization: `Bearer ${token}` };
  return { headers: () => headers };
}

/** User name and password, as UTF-8. */
export function basicAuth(username: string, password: string): AuthProvider {
  const bytes = new TextEncoder().encode(`${username}:${password}`);
  const headers = { authorization: `Basic ${btoa(String.fromCharCode(...bytes))}` };
  return { headers: () => headers };
}

/** Acts as somebody else; needs the impersonate verb. */
export interface Impersonation {
  readonly user: string;
  readonly uid?: string;
  readonly groups?: readonly string[];
  readonly extra?: Readonly<Record<string, readonly string[]>>;
}

/** Upstream: client-go@v0.30.3:transport/round_trippers.go#impersonatingRoundTripper */
export function impersonationHeaders(impersonation: Impersonation): Record<string, string | readonly string[]> {
  const headers: Record<string, string | readonly string[]> = { 'impersonate-user': impersonation.user };
  if (impersonation.uid !== undefined) headers['impersonate-uid'] = impersonation.uid;
  if (impersonation.groups?.length) headers['impersonate-group'] = impersonation.groups;
  for (const [key, values] of Object.entries(impersonation.extra ?? {})) {
    headers[`impersonate-extra-${encodeURIComponent(key.toLowerCase())}`] = values;
  }
  return headers;
}
