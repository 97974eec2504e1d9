// What a request is about: verb, resource, namespace and name, read off method, path and query before anything else.
// Upstream: apiserver@v0.30.3:pkg/endpoints/request/requestinfo.go#RequestInfoFactory
import { decodeListOptions } from './list-options-codec.ts';
import type { Query } from './query.ts';

export interface RequestInfo {
  readonly isResourceRequest: boolean;
  readonly path: string;
  /** For a request that is about no resource: the method in lower case. */
  readonly verb: string;
  readonly apiPrefix: string;
  readonly apiGroup: string;
  readonly apiVersion: string;
  readonly namespace: string;
  readonly resource: string;
  readonly subresource: string;
  /** Also filled from a field selector that pins the name of a list, watch or deletecollection. */
  readonly name: string;
  /** Path segments from the resource on. */
  readonly parts: readonly string[];
  /** Why nothing can be said of the request; it is answered before anybody is asked who sent it. */
  readonly failure?: string;
}

const VERB_BY_METHOD: Readonly<Record<string, string>> = {
  POST: 'create',
  GET: 'get',
  HEAD: 'get',
  PUT: 'update',
  PATCH: 'patch',
  DELETE: 'delete',
};
const NAMESPACE_SUBRESOURCES = new Set(['status', 'finalize']);

export function splitPath(path: string): readonly string[] {
  const trimmed = path.replace(/^\/+|\/+$/g, '');
  return trimmed === '' ? [] : trimmed.split('/');
}

/** Never throws: a request that makes no sense is a non-resource request, and routing refuses it later. */
export function newRequestInfo(method: string, path: string, query: Query): RequestInfo {
  const other: RequestInfo = {
    isResourceRequest: false,
    path,
    verb: method.toLowerCase(),
    apiPrefix: '',
    apiGroup: '',
    apiVersion: '',
    namespace: '',
    resource: '',
    subresource: '',
    name: '',
    parts: [],
  };
  const segments = splitPath(path);
  const [apiPrefix = ''] = segments;
  if (segments.length < 3 || (apiPrefix !== 'api' && apiPrefix !== 'apis')) return other;
  if (apiPrefix === 'apis' && segments.length < 4) {
    return { ...other, apiPrefix, apiGroup: segments[1]! };
  }
  const apiGroup = apiPrefix === 'apis' ? segments[1]! : '';
  const apiVersion = segments[apiPrefix === 'apis' ? 2 : 1]!;
  let parts = segments.slice(apiPrefix === 'apis' ? 3 : 2);
  let verb = VERB_BY_METHOD[method] ?? '';
  if (parts[0] === 'watch' || parts[0] === 'proxy') {
    if (parts.length < 2) {
      return { ...other, apiPrefix, apiGroup, apiVersion, failure: 'unable to determine kind and namespace from url' };
    }
    verb = parts[0];
    parts = parts.slice(1);
  }
  let namespace = '';
  if (parts[0] === 'namespaces' && parts.length > 1) {
    namespace = parts[1]!;
    // `namespaces/a/status` is a subresource of the namespace, `namespaces/a/pods` are the pods in it.
    if (parts.length > 2 && !NAMESPACE_SUBRESOURCES.has(parts[2]!)) parts = parts.slice(2);
  }
  const [resource = '', pathName = '', subresource = ''] = parts;
  let name = pathName;
  if (name === '' && (verb === 'get' || verb === 'delete')) {
    const selected = readSelection(query);
    if (verb === 'get') verb = selected.watch ? 'watch' : 'list';
    else verb = 'deletecollection';
    name = selected.name;
  }
  return {
    isResourceRequest: true,
    path,
    verb,
    apiPrefix,
    apiGroup,
    apiVersion,
    namespace,
    resource,
    subresource,
    name,
    parts,
  };
}

function readSelection(query: Query): { watch: boolean; name: string } {
  try {
    const options = decodeListOptions(query);
    const name = options.fieldSelector.requiresExactMatch('metadata.name');
    return { watch: options.watch, name: name !== undefined && isPathSegment(name) ? name : '' };
  } catch {
    // The options will be refused; the verb still decides whether the request is long-running.
    const watch = query.first('watch')?.toLowerCase();
    return { watch: watch !== undefined && watch !== 'false' && watch !== '0', name: '' };
  }
}

/** Upstream: apimachinery@v0.30.3:pkg/api/validation/path/name.go#IsValidPathSegmentName */
export function isPathSegment(name: string): boolean {
  return name !== '.' && name !== '..' && !/[/%]/.test(name);
}

const LONG_RUNNING_SUBRESOURCES = new Set(['attach', 'exec', 'proxy', 'log', 'portforward']);

/** Long-running requests have no request timeout. */
export function isLongRunning(info: RequestInfo): boolean {
  return (
    info.isResourceRequest &&
    (info.verb === 'watch' || info.verb === 'proxy' || LONG_RUNNING_SUBRESOURCES.has(info.subresource))
  );
}
