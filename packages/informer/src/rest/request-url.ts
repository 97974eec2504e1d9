// API paths and queries.
// Upstream: client-go@v0.30.3:rest/request.go#URL
import type { ListOptions } from '@kube-rx/apimachinery';
import { OptionsError } from '@kube-rx/apimachinery';
import type { ResourceType } from './resource-type.ts';

export type QueryValue = string | number | boolean | readonly string[] | undefined;
export type Query = Readonly<Record<string, QueryValue>>;

export interface ResourcePath {
  readonly namespace?: string | undefined;
  readonly name?: string | undefined;
  readonly subresource?: string | undefined;
}

/** `/apis/apps/v1/namespaces/shop/deployments/web/scale`; refuses names that would change the path. */
export function resourcePath(type: ResourceType, path: ResourcePath = {}): string {
  const root = type.group === '' ? `/api/${type.version}` : `/apis/${type.group}/${type.version}`;
  const parts = [root];
  if (type.scope === 'Namespaced' && path.namespace !== undefined && path.namespace !== '') {
    parts.push('namespaces', segment('namespace', path.namespace));
  } else if (type.scope === 'Namespaced' && path.name !== undefined) {
    throw new OptionsError('namespace', path.namespace ?? '', 'a namespace when one object is named');
  }
  parts.push(type.plural.toLowerCase());
  if (path.name !== undefined) parts.push(segment('name', path.name));
  if (path.subresource !== undefined) {
    for (const part of path.subresource.split('/')) parts.push(segment('subresource', part));
  }
  return parts.join('/');
}

function segment(option: string, value: string): string {
  if (value === '' || value === '.' || value === '..' || /[/%]/.test(value)) {
    throw new OptionsError(option, value, 'a path segment: not empty, not "." or "..", without "/" and "%"');
  }
  return encodeURIComponent(value);
}

/** Joins the server's URL, whose path prefix stays, with an API path and a sorted query. */
export function requestUrl(server: string, path: string, query: Query = {}): string {
  const parameters = new URLSearchParams();
  for (const key of Object.keys(query).sort()) {
    const value = query[key];
    if (value === undefined) continue;
    if (Array.isArray(value)) for (const each of value) parameters.append(key, each);
    else parameters.append(key, String(value));
  }
  const text = parameters.toString();
  return `${server.replace(/\/+$/, '')}${path}${text === '' ? '' : `${path.includes('?') ? '&' : '?'}${text}`}`;
}

/** Only what is set reaches the wire: empty strings, zero and false are the defaults upstream leaves out. */
export function listQuery(options: ListOptions): Query {
  const query: Record<string, QueryValue> = {};
  for (const [key, value] of Object.entries(options)) {
    if (value === undefined || value === '' || value === 0) continue;
    // The one boolean whose false differs from absent.
    if (value === false && key !== 'sendInitialEvents') continue;
    query[key] = value;
  }
  return query;
}
