// Continue tokens: where the next page starts and at which revision.
// Upstream: apiserver@v0.30.3:pkg/storage/continue.go
import { goQuote } from '@kube-rx/apimachinery';
import type { Revision } from '../etcd/client.ts';

const TOKEN_VERSION = 'meta.k8s.io/v1';

export interface ContinueToken {
  /** Full key to start at. */
  readonly key: string;
  /** -1 asks for the latest revision: a list that is not consistent with its first pages. */
  readonly revision: Revision;
}

/** @throws Error when `key` is not below `prefix` */
export function encodeContinue(key: string, prefix: string, revision: Revision): string {
  if (!key.startsWith(prefix) || key.length === prefix.length) {
    throw new Error(`unable to encode next field: the prefix and key do not match`);
  }
  const start = key.slice(prefix.length);
  return Buffer.from(`{"v":"${TOKEN_VERSION}","rv":${revision},"start":${goJsonString(start)}}`).toString('base64url');
}

/** @throws Error with upstream's text for a token that cannot be used */
export function decodeContinue(token: string, prefix: string): ContinueToken {
  const { v, rv, start } = parseToken(decodeBase64(token));
  if (v !== TOKEN_VERSION) {
    throw new Error(`continue key is not valid: server does not recognize this encoded version ${v}`);
  }
  if (rv === 0) {
    throw new Error(`continue key is not valid: incorrect encoded start resourceVersion (version ${TOKEN_VERSION})`);
  }
  if (start === '') {
    throw new Error(`continue key is not valid: encoded start key empty (version ${TOKEN_VERSION})`);
  }
  // The key must stay what it is after cleaning, so that a token cannot climb out of its prefix.
  const rooted = start.startsWith('/') ? start : `/${start}`;
  if (cleanPath(rooted) !== rooted) throw new Error(`continue key is not valid: ${start}`);
  return { key: prefix + rooted.slice(1), revision: rv };
}

/** The real decoder knows the URL-safe alphabet without padding only, and tells the first byte it does not like. */
function decodeBase64(token: string): string {
  const bad = /[^A-Za-z0-9_-]/.exec(token);
  const at = bad?.index ?? (token.length % 4 === 1 ? token.length - 1 : -1);
  if (at >= 0) throw new Error(`continue key is not valid: illegal base64 data at input byte ${at}`);
  return Buffer.from(token, 'base64url').toString('utf8');
}

interface RawToken {
  readonly v: string;
  readonly rv: number;
  readonly start: string;
}

function parseToken(text: string): RawToken {
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch (error) {
    throw new Error(`continue key is not valid: ${goSyntaxError(text)}`, { cause: error });
  }
  if (typeof parsed !== 'object' || parsed === null || Array.isArray(parsed)) {
    if (parsed === null) return { v: '', rv: 0, start: '' };
    throw new Error(
      `continue key is not valid: json: cannot unmarshal ${goKind(parsed)} into Go value of type storage.continueToken`,
    );
  }
  // As Go reads it, names may be in any case, and of several the last counts.
  const fields = new Map(Object.entries(parsed).map(([name, value]) => [name.toLowerCase(), value as unknown]));
  const field = <T>(name: string, type: 'string' | 'number', goType: string, zero: T): T => {
    const value = fields.get(name);
    if (value === undefined || value === null) return zero;
    if (typeof value === type && (type === 'string' || isInt64(value, text))) return value as T;
    const kind =
      type === 'number' && typeof value === 'number' ? `number ${writtenNumber(text, value)}` : goKind(value);
    throw new Error(
      `continue key is not valid: json: cannot unmarshal ${kind} into Go struct field continueToken.${name} of type ${goType}`,
    );
  };
  return {
    v: field('v', 'string', 'string', ''),
    rv: field('rv', 'number', 'int64', 0),
    start: field('start', 'string', 'string', ''),
  };
}

const NUMBER = /"rv"\s*:\s*(-?[0-9][0-9.eE+-]*)/i;

/** A number as it stands in the token: messages show it so. */
const writtenNumber = (text: string, value: unknown): string => NUMBER.exec(text)?.[1] ?? String(value);

function isInt64(value: unknown, text: string): boolean {
  const written = writtenNumber(text, value);
  return /^-?[0-9]+$/.test(written) && BigInt.asIntN(64, BigInt(written)) === BigInt(written);
}

function goKind(value: unknown): string {
  if (Array.isArray(value)) return 'array';
  return typeof value === 'boolean' ? 'bool' : typeof value;
}

/** What Go's JSON scanner says about the places where such tokens break in practice: the start, or the end. */
function goSyntaxError(text: string): string {
  const trimmed = text.trimStart();
  if (trimmed === '') return 'unexpected end of JSON input';
  const first = trimmed[0]!;
  if (!/[[{"0-9tfn-]/.test(first)) {
    return `invalid character ${goQuote(first).replace(/^"|"$/g, "'")} looking for beginning of value`;
  }
  if (/^(?:true|false|null|[0-9.eE+-]+|"[^"]*")/.test(trimmed)) {
    const rest = trimmed.replace(/^(?:true|false|null|[0-9.eE+-]+|"[^"]*")\s*/, '');
    if (rest !== '') return `invalid character '${rest[0]}' after top-level value`;
  }
  return 'unexpected end of JSON input';
}

function goJsonString(text: string): string {
  return JSON.stringify(text).replace(
    /[<>&\u2028\u2029]/g,
    (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

/** Go's path.Clean for rooted paths. */
function cleanPath(path: string): string {
  const parts: string[] = [];
  for (const part of path.split('/')) {
    if (part === '' || part === '.') continue;
    if (part === '..') parts.pop();
    else parts.push(part);
  }
  return `/${parts.join('/')}`;
}
