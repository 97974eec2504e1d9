// Routing: which handler a path and method lead to, and the answers of the router itself (404, 405, 406).
// Upstream: apiserver@v0.30.3:pkg/endpoints/installer.go#APIInstaller, github.com/emicklei/go-restful/v3 jsr311.go
import { newNotFound, newStatusError } from '@kube-rx/apimachinery';
import type { ResourceInfo, ResourceStore } from '../registry/rest.ts';
import { deprecationWarning } from './deprecations.ts';
import type { EndpointsContext, Exchange } from './exchange.ts';
import { handleCreate } from './handlers/create.ts';
import { handleDelete } from './handlers/delete.ts';
import { handleDeleteCollection } from './handlers/delete-collection.ts';
import { handleGet } from './handlers/get.ts';
import { handleList } from './handlers/list.ts';
import { handlePatch } from './handlers/patch.ts';
import { handleSubresource, subresourceMethods } from './handlers/subresource.ts';
import { handleUpdate } from './handlers/update.ts';
import { handleVirtualCreate } from './handlers/virtual.ts';
import { ALL_MEDIA_TYPES, routerAccepts, routerNotAcceptable, STREAM_MEDIA_TYPES } from './negotiation.ts';
import { splitPath } from './request-info.ts';
import { methodNotAllowed, notFoundRoute } from './router-errors.ts';

const COLLECTION_VERBS: Readonly<Record<string, string>> = { GET: 'list', POST: 'create', DELETE: 'deletecollection' };
const OBJECT_VERBS: Readonly<Record<string, string>> = { GET: 'get', PUT: 'update', PATCH: 'patch', DELETE: 'delete' };

interface Target {
  readonly resource: string;
  /** Undefined for a collection. */
  readonly name: string | undefined;
  readonly subresource: string | undefined;
  /** The path below a subresource that has one, e.g. a proxy. */
  readonly rest: readonly string[];
  readonly inNamespace: boolean;
  readonly watchPrefix: boolean;
}

/** Serves a request below a group version. Throws what the router and the handlers answer. */
export async function route(server: EndpointsContext, exchange: Exchange): Promise<void> {
  const { info, request } = exchange;
  const segments = splitPath(request.path);
  const target = readTarget(segments.slice(info.apiPrefix === 'apis' ? 3 : 2));
  if (target === undefined) throw notFoundRoute();
  const { apiGroup: group, apiVersion: version } = info;
  const store = server.catalog.find(group, version, target.resource);
  if (store !== undefined) {
    if (!fitsScope(store.info, target)) throw notFoundRoute();
    return routeStore(server, exchange, store, target);
  }
  const virtual = server.catalog.findVirtual(group, version, target.resource);
  if (virtual === undefined || target.name !== undefined || target.watchPrefix) throw notFoundRoute();
  if (virtual.info.namespaced !== target.inNamespace) throw notFoundRoute();
  if (request.method !== 'POST') throw methodNotAllowed();
  requireAccept(exchange, ALL_MEDIA_TYPES);
  return handleVirtualCreate(server, exchange, virtual);
}

function readTarget(parts: readonly string[]): Target | undefined {
  const watchPrefix = parts[0] === 'watch';
  const own = watchPrefix ? parts.slice(1) : parts;
  const ofNamespace = own[2] === 'status' || own[2] === 'finalize';
  const inNamespace = own[0] === 'namespaces' && own.length > 2 && !ofNamespace;
  const [resource, name, subresource, ...rest] = inNamespace ? own.slice(2) : own;
  if (resource === undefined || resource === '') return undefined;
  return { resource, name, subresource, rest, inNamespace, watchPrefix };
}

// A namespaced resource without a namespace in the path is its collection over all namespaces, read only.
function fitsScope(info: ResourceInfo, target: Target): boolean {
  if (!info.namespaced) return !target.inNamespace;
  if (target.inNamespace) return true;
  return target.name === undefined;
}

function routeStore(server: EndpointsContext, exchange: Exchange, store: ResourceStore, target: Target): Promise<void> {
  const { method } = exchange.request;
  const { verbs } = store.info;
  if (target.watchPrefix) {
    if (!verbs.includes('watch') || target.subresource !== undefined) throw notFoundRoute();
    if (method !== 'GET') throw methodNotAllowed();
    requireAccept(exchange, [...ALL_MEDIA_TYPES, ...STREAM_MEDIA_TYPES]);
    warnOfDeprecation(exchange, store.info);
    return handleList(server, exchange, store, true);
  }
  if (target.subresource !== undefined) return routeSubresource(server, exchange, store, target);
  const known = target.name === undefined ? COLLECTION_VERBS : OBJECT_VERBS;
  const acrossNamespaces = store.info.namespaced && !target.inNamespace;
  const offered = Object.keys(known).filter(
    (one) => verbs.includes(known[one]!) && (!acrossNamespaces || one === 'GET'),
  );
  if (offered.length === 0) throw notFoundRoute();
  // Custom resources have no route there at all.
  if (store.info.custom && acrossNamespaces && method !== 'GET') throw notFoundRoute();
  if (!offered.includes(method)) throw methodNotAllowed();
  requireContentType(exchange, store.info);
  const list = target.name === undefined && method === 'GET';
  requireAccept(
    exchange,
    list && verbs.includes('watch') ? [...ALL_MEDIA_TYPES, ...STREAM_MEDIA_TYPES] : ALL_MEDIA_TYPES,
    store.info,
  );
  warnOfDeprecation(exchange, store.info);
  return dispatch(server, exchange, store, known[method]!);
}

function warnOfDeprecation({ ctx }: Exchange, info: ResourceInfo): void {
  const warning = deprecationWarning(info);
  if (warning !== undefined) ctx.warn(warning);
}

function dispatch(server: EndpointsContext, exchange: Exchange, store: ResourceStore, verb: string): Promise<void> {
  switch (verb) {
    case 'list':
      return handleList(server, exchange, store, false);
    case 'create':
      return handleCreate(server, exchange, store);
    case 'deletecollection':
      return handleDeleteCollection(server, exchange, store);
    case 'update':
      return handleUpdate(server, exchange, store, '');
    case 'patch':
      return handlePatch(server, exchange, store, '');
    case 'delete':
      return handleDelete(server, exchange, store);
    default:
      return handleGet(exchange, store);
  }
}

function routeSubresource(
  server: EndpointsContext,
  exchange: Exchange,
  store: ResourceStore,
  target: Target,
): Promise<void> {
  const offered = subresourceMethods(store, target.subresource!);
  const { info } = store;
  if (info.custom && offered.length === 0) {
    throw newNotFound({ group: info.group, resource: info.resource }, target.name ?? '');
  }
  // Only connecting subresources go on below their name.
  if (offered.length === 0) throw notFoundRoute();
  if (target.rest.length > 0 && target.subresource !== 'proxy' && !info.custom) throw notFoundRoute();
  if (!offered.includes(exchange.request.method)) throw methodNotAllowed();
  requireContentType(exchange, store.info);
  warnOfDeprecation(exchange, store.info);
  return handleSubresource(server, exchange, store, target.subresource!);
}

/** Custom resources are not behind the router; their handler negotiates alone. */
function requireAccept(exchange: Exchange, produces: readonly string[], info?: ResourceInfo): void {
  if (info?.custom === true || routerAccepts(exchange.request.header('accept'), produces)) return;
  throw routerNotAcceptable(produces);
}

const PATCHES = new Set([
  'application/json-patch+json',
  'application/merge-patch+json',
  'application/strategic-merge-patch+json',
  'application/apply-patch+yaml',
]);

// Only routes of patches name what they consume.
function requireContentType(exchange: Exchange, info: ResourceInfo): void {
  const { request } = exchange;
  if (request.method !== 'PATCH' || info.custom) return;
  const type = (request.header('content-type') ?? '').split(';', 1)[0]!.trim();
  if (PATCHES.has(type)) return;
  throw newStatusError(415, 'UnsupportedMediaType', '415: Unsupported Media Type', {});
}
