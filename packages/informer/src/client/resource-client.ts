// All verbs on one resource, typed.
// Upstream: client-go@v0.30.3:dynamic/interface.go#ResourceInterface, gentype/type.go#Client
import type { KubernetesObject, ListOptions, Status } from '@kube-rx/apimachinery';
import { OptionsError } from '@kube-rx/apimachinery';
import type { Observable } from 'rxjs';
import { childSignal } from '../rest/child-signal.ts';
import type { ListWatchOptions } from '../rest/list-watch.ts';
import { ListWatch } from '../rest/list-watch.ts';
import type { PagerOptions } from '../rest/pager.ts';
import { eachPage, listPages } from '../rest/pager.ts';
import type { Query } from '../rest/request-url.ts';
import { listQuery, resourcePath } from '../rest/request-url.ts';
import type { Live, ResourceType } from '../rest/resource-type.ts';
import type { RestClient } from '../rest/rest-client.ts';
import type { Decoding } from '../rest/watch-decoder.ts';
import type {
  ApplyCallOptions,
  CallOptions,
  CreateCallOptions,
  DeleteCallOptions,
  DeleteCollectionCallOptions,
  DeletedCollection,
  GetCallOptions,
  ListCallOptions,
  ObjectName,
  ObjectRef,
  PatchCallOptions,
  ResourceList,
  ResourcePage,
  Scale,
  UpdateCallOptions,
  WatchCallOptions,
  WatchIterableOptions,
} from './client-options.ts';
import type { MergePatch, PatchBody } from './patch.ts';
import { PATCH_MEDIA_TYPES, patchTypeOf } from './patch.ts';
import type { LiveWatchEvent, OpenWatch } from './watch-iterable.ts';
import { watchEvents } from './watch-iterable.ts';
import { watchObservable } from './watch-observable.ts';

export interface ResourceClientOptions {
  /** Where names without a namespace live and what is listed and watched. @defaultValue all namespaces, for lists and watches */
  readonly namespace?: string | undefined;
  /** Owner of the fields this client writes. @defaultValue the server makes one from the user agent */
  readonly fieldManager?: string | undefined;
  /** Lists and watches carry the metadata of the objects alone. @defaultValue false */
  readonly metadataOnly?: boolean | undefined;
  /** @defaultValue `tolerant` */
  readonly decoding?: Decoding | undefined;
}

/**
 * Calls reject with a StatusError for what the API answers (see `isNotFound`, `isConflict` and the like), a TransportError when there
 * was no answer, an OptionsError for a name that cannot be in a path, and the signal's reason.
 *
 * @example
 * const pods = new ResourceClient(rest, Pods, { namespace: 'shop' });
 * const pod = await pods.get('web');
 * await pods.patch('web', { metadata: { labels: { tier: 'front' } } });
 */
export class ResourceClient<T extends KubernetesObject> {
  readonly type: ResourceType<T>;
  readonly #rest: RestClient;
  readonly #options: ResourceClientOptions;

  constructor(rest: RestClient, type: ResourceType<T>, options: ResourceClientOptions = {}) {
    this.#rest = rest;
    this.type = type;
    this.#options = options;
  }

  /** The same client for another namespace. */
  namespace(namespace: string): ResourceClient<T> {
    return new ResourceClient(this.#rest, this.type, { ...this.#options, namespace });
  }

  get(name: ObjectName, options: GetCallOptions = {}): Promise<Live<T>> {
    const { signal, resourceVersion } = options;
    return this.#call({ path: this.#path(name), query: { resourceVersion }, signal });
  }

  /** Everything, read page by page; when a page's token expires the whole list is read again at once. */
  async list(options: ListCallOptions = {}): Promise<ResourceList<T>> {
    const { signal, pageSize, ...query } = options;
    const result = await listPages(
      this.#listWatch().pageFunction,
      query,
      { signal: signal ?? new AbortController().signal },
      pager(pageSize),
    );
    return { items: result.items as Live<T>[], resourceVersion: result.resourceVersion };
  }

  /** Page after page, read one ahead. A token that expired (410) is thrown: start again, or use {@link ResourceClient.list}. */
  async *pages(options: ListCallOptions = {}): AsyncGenerator<ResourcePage<T>, void, undefined> {
    const { signal, pageSize, ...query } = options;
    const child = childSignal(signal);
    try {
      yield* eachPage(this.#listWatch().pageFunction, query, child, pager(pageSize)) as AsyncGenerator<ResourcePage<T>>;
    } finally {
      // The page that was read ahead is of no use to a consumer who left.
      child.abort();
      child.release();
    }
  }

  create(object: T, options: CreateCallOptions = {}): Promise<Live<T>> {
    const { signal, ...query } = options;
    const path = this.#collection(object.metadata?.namespace, 'create');
    return this.#call({ method: 'POST', path, query: this.#written(query), body: this.#named(object), signal });
  }

  /** Replaces the object; with `metadata.resourceVersion` only if it has not changed since, else a conflict. */
  update(object: T, options: UpdateCallOptions = {}): Promise<Live<T>> {
    return this.#put(object, undefined, options);
  }

  updateStatus(object: T, options: UpdateCallOptions = {}): Promise<Live<T>> {
    return this.#put(object, 'status', options);
  }

  /** A list is a JSON patch, an object a merge patch, unless `type` says otherwise. */
  patch(name: ObjectName, body: PatchBody<T>, options: PatchCallOptions = {}): Promise<Live<T>> {
    return this.#patch<Live<T>>(name, undefined, body, options);
  }

  patchStatus(name: ObjectName, body: PatchBody<T>, options: PatchCallOptions = {}): Promise<Live<T>> {
    return this.#patch<Live<T>>(name, 'status', body, options);
  }

  /** Server-side apply: creates the object or changes the fields that are given; needs a field manager. */
  apply(object: T | MergePatch<T>, options: ApplyCallOptions = {}): Promise<Live<T>> {
    return this.#apply(object, undefined, options);
  }

  applyStatus(object: T | MergePatch<T>, options: ApplyCallOptions = {}): Promise<Live<T>> {
    return this.#apply(object, 'status', options);
  }

  /** The object when it stays for its finalizers or its grace period, else the Status of the deletion. */
  delete(name: ObjectName, options: DeleteCallOptions = {}): Promise<Live<T> | Status> {
    const { signal, ...wire } = options;
    return this.#call({ method: 'DELETE', path: this.#path(name), ...deleteBody(wire), signal });
  }

  deleteCollection(options: DeleteCollectionCallOptions = {}): Promise<DeletedCollection<T> | Status> {
    const { signal, labelSelector, fieldSelector, resourceVersion, resourceVersionMatch, ...wire } = options;
    const query = { labelSelector, fieldSelector, resourceVersion, resourceVersionMatch };
    return this.#call({
      method: 'DELETE',
      path: this.#collection(undefined, 'deleteCollection'),
      query: listQuery(query as ListOptions),
      ...deleteBody(wire),
      signal,
    });
  }

  getScale(name: ObjectName, options: CallOptions = {}): Promise<Scale> {
    return this.subresource<Scale>('GET', name, 'scale', undefined, options);
  }

  updateScale(name: ObjectName, scale: Scale, options: UpdateCallOptions = {}): Promise<Scale> {
    return this.subresource<Scale>('PUT', name, 'scale', scale, options);
  }

  /** Sets the number of replicas, whatever it was. */
  scale(name: ObjectName, replicas: number, options: PatchCallOptions = {}): Promise<Scale> {
    return this.#patch<Scale>(name, 'scale', { spec: { replicas } }, options);
  }

  /** Any other subresource: `eviction`, `binding`, `token`, `resize`. */
  subresource<R>(
    method: 'GET' | 'POST' | 'PUT' | 'DELETE',
    name: ObjectName,
    subresource: string,
    body?: unknown,
    options: CreateCallOptions = {},
  ): Promise<R> {
    const { signal, ...query } = options;
    const written = method === 'POST' || method === 'PUT' ? this.#written(query) : { ...query };
    return this.#call({ method, path: this.#path(name, subresource), query: written, body, signal });
  }

  /** See {@link watchEvents}: cold, one consumer, back-pressure, ends with the connection. */
  watch(options: WatchIterableOptions = {}): AsyncIterable<LiveWatchEvent<Live<T>>> {
    const { signal, highWaterMark } = options;
    return watchEvents(this.opener(options), { signal, highWaterMark });
  }

  /** See {@link watchObservable}: cold, one request a subscriber, no back-pressure. */
  watch$(options: WatchCallOptions = {}): Observable<LiveWatchEvent<Live<T>>> {
    return watchObservable(this.opener(options), options.signal);
  }

  /** The ListerWatcher of this client, for a reflector or a watch tool. */
  listerWatcher(options: Pick<ListWatchOptions, 'labelSelector' | 'fieldSelector' | 'maxRetries'> = {}): ListWatch<T> {
    const { namespace, metadataOnly, decoding } = this.#options;
    return new ListWatch<T>(this.#rest, this.type, { namespace, metadataOnly, decoding, ...options });
  }

  protected opener(options: WatchIterableOptions): OpenWatch<Live<T>> {
    const { signal: _signal, highWaterMark: _mark, maxRetries, ...query } = options;
    const listWatch = this.listerWatcher({ maxRetries });
    return (signal) => listWatch.watch(query, { signal }) as ReturnType<OpenWatch<Live<T>>>;
  }

  #listWatch(): { readonly pageFunction: Parameters<typeof listPages<T>>[0] } {
    const listWatch = this.listerWatcher();
    return { pageFunction: (options, context) => listWatch.list(options, context) };
  }

  #call<R>(spec: Parameters<RestClient['json']>[0]): Promise<R> {
    return this.#rest.json<R>({
      ...spec,
      ...(this.#options.metadataOnly
        ? { accept: 'application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json' }
        : {}),
    });
  }

  #put(object: T, subresource: string | undefined, options: UpdateCallOptions): Promise<Live<T>> {
    const { signal, ...query } = options;
    const path = this.#path(refOf(object), subresource);
    return this.#call({ method: 'PUT', path, query: this.#written(query), body: this.#named(object), signal });
  }

  #patch<R>(name: ObjectName, subresource: string | undefined, body: unknown, options: PatchCallOptions): Promise<R> {
    const { signal, type, ...query } = options;
    return this.#call({
      method: 'PATCH',
      path: this.#path(name, subresource),
      query: this.#written(query),
      body,
      contentType: PATCH_MEDIA_TYPES[patchTypeOf(body, type)],
      signal,
    });
  }

  #apply(object: T | MergePatch<T>, subresource: string | undefined, options: ApplyCallOptions): Promise<Live<T>> {
    const fieldManager = options.fieldManager ?? this.#options.fieldManager;
    if (fieldManager === undefined || fieldManager === '') {
      throw new OptionsError('fieldManager', fieldManager, 'the name under which the fields are owned');
    }
    const given = object as T;
    return this.#patch<Live<T>>(refOf(given), subresource, this.#named(given), {
      ...options,
      fieldManager,
      type: 'apply',
    });
  }

  #path(name: ObjectName, subresource?: string): string {
    const ref: ObjectRef = typeof name === 'string' ? { name } : name;
    return resourcePath(this.type, {
      namespace: ref.namespace ?? this.#options.namespace,
      name: ref.name,
      subresource,
    });
  }

  /** Only collection reads may go over all namespaces. */
  #collection(namespace: string | undefined, verb: string): string {
    const chosen = namespace ?? this.#options.namespace;
    if (this.type.scope === 'Namespaced' && !chosen)
      throw new OptionsError('namespace', chosen, `a namespace for ${verb}`);
    return resourcePath(this.type, { namespace: chosen });
  }

  #written(query: Omit<PatchCallOptions, 'signal' | 'type'>): Query {
    return { ...query, fieldManager: query.fieldManager ?? this.#options.fieldManager };
  }

  /** The server wants kind and apiVersion, which a typed object often lacks. */
  #named(object: T): T {
    const { kind = this.type.kind, apiVersion = this.type.apiVersion } = object;
    return { ...object, kind, apiVersion };
  }
}

function refOf(object: KubernetesObject): ObjectRef {
  const { name, namespace } = object.metadata ?? {};
  if (name === undefined || name === '') throw new OptionsError('metadata.name', name, 'the name of the object');
  return { name, namespace };
}

const pager = (pageSize: number | undefined): PagerOptions => (pageSize === undefined ? {} : { pageSize });

/** No body at all when nothing is asked for: proxies are known to drop or refuse one. */
function deleteBody(options: object): { readonly body?: unknown } {
  return Object.values(options).some((value) => value !== undefined)
    ? { body: { kind: 'DeleteOptions', apiVersion: 'v1', ...options } }
    : {};
}
