// A small API in memory behind the Transport interface: enough of CRUD, conflicts, lists and watches to test what is built on
// them. It is no model of a real server; the tests of both sides together are elsewhere.
import type { KubernetesObject, Status } from '@kube-rx/apimachinery';
import { newAlreadyExists, newConflict, newNotFound, newResourceExpired, StatusError } from '@kube-rx/apimachinery';
import { defineResource, type ResourceType } from '../../src/rest/resource-type.ts';
import type { Transport, TransportRequest, TransportResponse } from '../../src/rest/transport.ts';
import { jsonResponse, MemoryBody } from './memory-body.ts';

export type MutableObject = {
  apiVersion?: string;
  kind?: string;
  metadata: {
    name: string;
    namespace?: string;
    uid?: string;
    resourceVersion?: string;
    generation?: number;
    labels?: Record<string, string>;
    deletionTimestamp?: string;
    finalizers?: string[];
  };
  spec?: unknown;
  status?: unknown;
  data?: unknown;
};

export interface LoggedRequest {
  readonly method: string;
  readonly path: string;
  readonly query: Readonly<Record<string, string>>;
  readonly headers: TransportRequest['headers'];
  readonly body: unknown;
}

interface OpenWatch {
  readonly root: string;
  readonly namespace: string | undefined;
  readonly body: MemoryBody;
}
interface Change {
  readonly root: string;
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED';
  readonly object: MutableObject;
}
type Answer = TransportResponse | undefined;

const PATH = /^((?:\/api\/[^/]+|\/apis\/[^/]+\/[^/]+))(?:\/namespaces\/([^/]+))?\/([^/]+)(?:\/([^/]+))?(?:\/(.+))?$/;

export class MemoryApi implements Transport {
  readonly requests: LoggedRequest[] = [];
  /** Answers instead of the API when it returns something; may be async, may throw a transport error. */
  intercept: ((request: LoggedRequest, signal?: AbortSignal) => Answer | Promise<Answer>) | undefined;
  closed = false;
  /** Watches from before this version get 410. */
  compactedAt = 0;
  readonly #objects = new Map<string, MutableObject>();
  readonly #history: Change[] = [];
  readonly #watches = new Set<OpenWatch>();
  #revision = 1;
  #uid = 0;

  get openWatches(): number {
    return this.#watches.size;
  }

  get revision(): number {
    return this.#revision;
  }

  async send(request: TransportRequest): Promise<TransportResponse> {
    const url = new URL(request.url);
    // Not logged: what an informer asks beside its lists and watches is no business of these tests.
    const unlogged = url.pathname === '/version';
    const logged: LoggedRequest = {
      method: request.method,
      path: url.pathname,
      query: Object.fromEntries(url.searchParams),
      headers: request.headers,
      body: request.body === undefined ? undefined : JSON.parse(String(request.body)),
    };
    if (!unlogged) this.requests.push(logged);
    request.signal?.throwIfAborted();
    const intercepted = await this.intercept?.(logged, request.signal);
    request.signal?.throwIfAborted();
    if (intercepted !== undefined) return intercepted;
    if (unlogged) return jsonResponse(200, { major: '1', minor: '30' });
    try {
      return this.#answer(logged, request.signal);
    } catch (error) {
      if (!(error instanceof StatusError)) throw error;
      return jsonResponse(error.code, error.status);
    }
  }

  close(): void {
    this.closed = true;
  }

  /** Puts an object there as somebody else would. */
  put(path: string, object: MutableObject): MutableObject {
    const { root, namespace } = parse(path);
    return this.#write(root, namespace, object, this.#objects.has(key(root, namespace, object.metadata.name)));
  }

  read(path: string): MutableObject | undefined {
    const { root, namespace, name } = parse(path);
    return this.#objects.get(key(root, namespace, name ?? ''));
  }

  remove(path: string): void {
    const { root, namespace, name } = parse(path);
    this.#remove(root, namespace, name ?? '');
  }

  /** Ends every open watch, cleanly or with an error. */
  cutWatches(error?: Error): void {
    for (const watch of [...this.#watches]) watch.body.end(error);
  }

  /** Sends an event of any shape to every open watch. */
  sendToWatches(event: unknown): void {
    for (const watch of this.#watches) watch.body.write(`${JSON.stringify(event)}\n`);
  }

  #answer(request: LoggedRequest, signal: AbortSignal | undefined): TransportResponse {
    const { root, namespace, name, subresource } = parse(request.path);
    const resource = { group: '', resource: root.split('/').at(-1)! };
    if (name === undefined) {
      if (request.method === 'POST') return this.#create(root, namespace, request.body as MutableObject);
      if (request.query['watch'] === 'true') return this.#watch(root, namespace, request, signal);
      if (request.method === 'DELETE') {
        for (const object of this.#list(root, namespace))
          this.#remove(root, object.metadata.namespace, object.metadata.name);
        return jsonResponse(200, { kind: 'Status', apiVersion: 'v1', status: 'Success' });
      }
      return this.#page(root, namespace, request);
    }
    const known = this.#objects.get(key(root, namespace, name));
    if (known === undefined) throw newNotFound(resource, name);
    switch (request.method) {
      case 'GET':
        return jsonResponse(200, known);
      case 'DELETE': {
        this.#remove(root, namespace, name);
        const success: Status = { kind: 'Status', apiVersion: 'v1', status: 'Success' };
        return jsonResponse(200, success);
      }
      case 'PUT': {
        const given = request.body as MutableObject;
        const version = given.metadata.resourceVersion;
        if (version !== undefined && version !== known.metadata.resourceVersion) {
          throw newConflict(resource, name, 'the object has been modified');
        }
        const merged = subresource === 'status' ? { ...known, status: given.status } : given;
        return jsonResponse(200, this.#write(root, namespace, merged, true));
      }
      case 'PATCH': {
        const given = request.body as { readonly metadata?: { readonly resourceVersion?: string } };
        const version = given.metadata?.resourceVersion;
        if (version !== undefined && version !== known.metadata.resourceVersion) {
          throw newConflict(resource, name, 'the object has been modified');
        }
        return jsonResponse(200, this.#write(root, namespace, merge(known, request.body) as MutableObject, true));
      }
      default:
        throw new Error(`unexpected ${request.method} ${request.path}`);
    }
  }

  #create(root: string, namespace: string | undefined, object: MutableObject): TransportResponse {
    const { name } = object.metadata;
    if (this.#objects.has(key(root, namespace, name))) {
      throw newAlreadyExists({ group: '', resource: root.split('/').at(-1)! }, name);
    }
    return jsonResponse(201, this.#write(root, namespace, object, false));
  }

  #write(root: string, namespace: string | undefined, given: MutableObject, exists: boolean): MutableObject {
    const before = this.#objects.get(key(root, namespace, given.metadata.name));
    const object: MutableObject = {
      ...given,
      metadata: {
        ...given.metadata,
        ...(namespace === undefined ? {} : { namespace }),
        uid: before?.metadata.uid ?? `uid-${++this.#uid}`,
        resourceVersion: String(++this.#revision),
      },
    };
    this.#objects.set(key(root, namespace, object.metadata.name), object);
    this.#changed({ root, type: exists ? 'MODIFIED' : 'ADDED', object });
    return object;
  }

  #remove(root: string, namespace: string | undefined, name: string): void {
    const object = this.#objects.get(key(root, namespace, name));
    if (object === undefined) return;
    this.#objects.delete(key(root, namespace, name));
    const last = { ...object, metadata: { ...object.metadata, resourceVersion: String(++this.#revision) } };
    this.#changed({ root, type: 'DELETED', object: last });
  }

  #changed(change: Change): void {
    this.#history.push(change);
    for (const watch of this.#watches) this.#send(watch, change);
  }

  #send(watch: OpenWatch, { root, type, object }: Change): void {
    if (watch.root !== root) return;
    if (watch.namespace !== undefined && watch.namespace !== object.metadata.namespace) return;
    watch.body.write(`${JSON.stringify({ type, object })}\n`);
  }

  #watch(
    root: string,
    namespace: string | undefined,
    request: LoggedRequest,
    signal: AbortSignal | undefined,
  ): TransportResponse {
    const since = Number(request.query['resourceVersion'] ?? 0);
    const body = new MemoryBody(() => this.#watches.delete(watch));
    const watch: OpenWatch = { root, namespace, body };
    signal?.addEventListener('abort', () => body.destroy(), { once: true });
    const response: TransportResponse = { status: 200, headers: { 'content-type': 'application/json' }, body };
    if (since > 0 && since < this.compactedAt) {
      const { status } = newResourceExpired(`too old resource version: ${since} (${this.compactedAt})`);
      body.write(`${JSON.stringify({ type: 'ERROR', object: status })}\n`);
      body.end();
      return response;
    }
    this.#watches.add(watch);
    if (since === 0)
      for (const object of this.#list(root, namespace)) this.#send(watch, { root, type: 'ADDED', object });
    else
      for (const change of this.#history)
        if (Number(change.object.metadata.resourceVersion) > since) this.#send(watch, change);
    return response;
  }

  #list(root: string, namespace: string | undefined): MutableObject[] {
    return [...this.#objects]
      .filter(([path]) => path.startsWith(`${root}|${namespace === undefined ? '' : `${namespace}/`}`))
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([, object]) => object);
  }

  #page(root: string, namespace: string | undefined, request: LoggedRequest): TransportResponse {
    const all = this.#list(root, namespace);
    const from = Number(request.query['continue'] ?? 0);
    const limit = Number(request.query['limit'] ?? 0) || all.length;
    const rest = all.length - from - limit;
    const metadata = {
      resourceVersion: String(this.#revision),
      ...(rest > 0 ? { continue: String(from + limit), remainingItemCount: rest } : {}),
    };
    return jsonResponse(200, { metadata, items: all.slice(from, from + limit) });
  }
}

function parse(path: string): {
  root: string;
  namespace: string | undefined;
  name: string | undefined;
  subresource?: string;
} {
  const match = PATH.exec(path);
  if (match === null) throw new Error(`no such path: ${path}`);
  const [, version, namespace, plural, name, subresource] = match;
  return { root: `${version}/${plural}`, namespace, name, ...(subresource === undefined ? {} : { subresource }) };
}

const key = (root: string, namespace: string | undefined, name: string): string => `${root}|${namespace ?? ''}/${name}`;

function merge(target: unknown, patch: unknown): unknown {
  if (typeof patch !== 'object' || patch === null || Array.isArray(patch)) return patch;
  const result: Record<string, unknown> =
    typeof target === 'object' && target !== null && !Array.isArray(target) ? { ...target } : {};
  for (const [name, value] of Object.entries(patch)) {
    if (value === null) delete result[name];
    else result[name] = merge(result[name], value);
  }
  return result;
}

/** Kinds the tests use. */
export interface ConfigMap extends KubernetesObject {
  readonly apiVersion?: 'v1';
  readonly kind?: 'ConfigMap';
  readonly data?: Readonly<Record<string, string>>;
}
export const ConfigMaps: ResourceType<ConfigMap> = defineResource<ConfigMap>()({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  plural: 'configmaps',
  scope: 'Namespaced',
});
