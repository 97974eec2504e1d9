// A model of an API server for one resource, behind the Transport interface: history, a window that slides, pages, bookmarks, and a
// fault for any request or open stream when the test's dice say so.
import type { Clock } from '@kube-rx/apimachinery';
import { newStatusError, type StatusReason, sleep } from '@kube-rx/apimachinery';
import { TransportError } from '../../src/errors.ts';
import type { Transport, TransportRequest, TransportResponse } from '../../src/rest/transport.ts';
import { jsonResponse, MemoryBody } from './memory-body.ts';
import type { TestObject } from './scripted-lister-watcher.ts';

interface Change {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED';
  readonly object: TestObject;
  readonly version: number;
}
interface Watch {
  readonly body: MemoryBody;
  sent: number;
}

export interface ModelServerOptions {
  readonly clock: Clock;
  readonly random: () => number;
  /** How likely a request or a write to a stream goes wrong while faults are on, 0 to 1. */
  readonly faultRate: number;
  /** Changes that a watch can still start from. */
  readonly window: number;
  readonly names: number;
}

const ITEM_VERSION_START = 100;

export class ModelServer implements Transport {
  readonly objects: Map<string, TestObject> = new Map();
  readonly requests: string[] = [];
  faults: boolean = true;
  readonly #options: ModelServerOptions;
  readonly #watches = new Set<Watch>();
  #history: Change[] = [];
  #version = ITEM_VERSION_START;
  #uid = 0;

  constructor(options: ModelServerOptions) {
    this.#options = options;
  }

  get openWatches(): number {
    return this.#watches.size;
  }

  /** One random change, told to every open watch. */
  change(): void {
    const { random, names } = this.#options;
    const name = `object-${Math.floor(random() * names)}`;
    const known = this.objects.get(name);
    const version = ++this.#version;
    const gone = known !== undefined && random() < 0.3;
    const object: TestObject = {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: {
        name,
        namespace: 'default',
        uid: known?.metadata.uid ?? `uid-${++this.#uid}`,
        resourceVersion: String(version),
      },
      data: { text: `${version} é😀\u2028"\\` },
    };
    if (gone) this.objects.delete(name);
    else this.objects.set(name, object);
    this.#history.push({ type: gone ? 'DELETED' : known === undefined ? 'ADDED' : 'MODIFIED', object, version });
    this.#history = this.#history.slice(-this.#options.window);
    for (const watch of [...this.#watches]) this.#pump(watch);
  }

  /** Something else changed on the server: bookmarks tell. */
  bookmark(): void {
    this.#version++;
    const metadata = { resourceVersion: String(this.#version) };
    const text = frame('BOOKMARK', { apiVersion: 'v1', kind: 'ConfigMap', metadata });
    for (const watch of [...this.#watches]) {
      // Now and then it comes twice.
      watch.body.write(this.#dice() ? text + text : text);
      watch.sent = this.#version;
    }
  }

  cutAll(): void {
    for (const watch of [...this.#watches]) this.#cut(watch);
  }

  close(): void {}

  async send(request: TransportRequest): Promise<TransportResponse> {
    const query = new URL(request.url).searchParams;
    const watching = query.get('watch') === 'true';
    this.requests.push(`${watching ? 'WATCH' : 'LIST'} ${query.get('resourceVersion') ?? ''}`);
    request.signal?.throwIfAborted();
    const fault = this.#requestFault();
    if (fault instanceof Error) throw fault;
    if (fault !== undefined) return fault;
    if (!watching) {
      // A slow answer is that of the moment at which it is given; what changes meanwhile is in it, or expires its token.
      if (this.#dice()) await sleep(this.#options.clock, this.#options.random() * 20_000, { signal: request.signal });
      return this.#list(query);
    }
    const body = new MemoryBody(() => this.#watches.delete(watch));
    const watch: Watch = { body, sent: Number(query.get('resourceVersion') ?? 0) };
    request.signal?.addEventListener('abort', () => body.destroy(), { once: true });
    const oldest = this.#history[0]?.version ?? this.#version + 1;
    if (watch.sent < oldest - 1) {
      if (this.#options.random() < 0.5) return jsonResponse(410, status(410, 'Expired'));
      body.write(frame('ERROR', status(410, 'Expired')));
    } else {
      this.#watches.add(watch);
      this.#pump(watch);
    }
    return { status: 200, headers: { 'content-type': 'application/json' }, body };
  }

  #list(query: URLSearchParams): TransportResponse {
    const asked = query.get('resourceVersion') ?? '';
    if (Number(asked) > this.#version) return jsonResponse(504, status(504, 'Timeout'));
    const limit = Number(query.get('limit') ?? 0);
    const all = [...this.objects.values()];
    const [from, snapshot] = (query.get('continue') ?? '0/0').split('/').map(Number) as [number, number];
    // A page of an older state cannot be made up: the token has expired as soon as anything changed.
    if (from > 0 && snapshot !== this.#version) return jsonResponse(410, status(410, 'Expired'));
    const paged = limit > 0 && asked !== '0' && all.length - from > limit;
    const items = paged ? all.slice(from, from + limit) : all.slice(from);
    const metadata = {
      resourceVersion: String(this.#version),
      ...(paged ? { continue: `${from + limit}/${this.#version}` } : {}),
    };
    const text = JSON.stringify({
      kind: 'ConfigMapList',
      apiVersion: 'v1',
      metadata,
      items: items.map(({ kind: _k, apiVersion: _v, ...item }) => item),
    });
    if (!this.#dice()) return jsonResponse(200, text);
    const body = new MemoryBody();
    body.write(text.slice(0, Math.floor(text.length * this.#options.random())));
    body.end(new TransportError('RESET', 'cut inside the list'));
    return { status: 200, headers: {}, body };
  }

  #pump(watch: Watch): void {
    for (const change of this.#history) {
      if (change.version <= watch.sent) continue;
      const text = frame(change.type, change.object);
      if (this.#dice()) {
        this.#disturb(watch, text);
        return;
      }
      watch.sent = change.version;
      const cut = Math.floor(text.length * this.#options.random());
      watch.body.write(text.slice(0, cut));
      watch.body.write(text.slice(cut));
    }
  }

  #disturb(watch: Watch, text: string): void {
    const { random } = this.#options;
    switch (Math.floor(random() * 6)) {
      case 0:
        this.#cut(watch);
        break;
      case 1:
        watch.body.write(text.slice(0, Math.floor(text.length / 2)));
        this.#cut(watch);
        break;
      case 2:
        watch.body.write(frame('ERROR', status(410, 'Expired')));
        break;
      case 3:
        watch.body.write(frame('ERROR', status(500, 'InternalError')));
        break;
      case 4:
        watch.body.write('<html>502</html>\n');
        break;
      // Half open: nothing more ever comes.
      default:
        break;
    }
    this.#watches.delete(watch);
  }

  #cut(watch: Watch): void {
    this.#watches.delete(watch);
    watch.body.end(this.#options.random() < 0.5 ? new TransportError('RESET', 'cut') : undefined);
  }

  #requestFault(): Error | TransportResponse | undefined {
    if (!this.#dice()) return undefined;
    const faults: (() => Error | TransportResponse)[] = [
      () => new TransportError('REFUSED', 'refused'),
      () => new TransportError('RESET', 'reset'),
      () => new TransportError('DNS', 'no such host'),
      () => jsonResponse(500, status(500, 'InternalError')),
      () => jsonResponse(429, status(429, 'TooManyRequests'), { 'retry-after': '2' }),
      () => jsonResponse(503, '<html>'),
      () => jsonResponse(401, status(401, 'Unauthorized')),
      () => jsonResponse(410, status(410, 'Expired')),
      () => jsonResponse(504, status(504, 'Timeout')),
    ];
    return faults[Math.floor(this.#options.random() * faults.length)]!();
  }

  #dice(): boolean {
    return this.faults && this.#options.random() < this.#options.faultRate;
  }
}

function frame(type: string, object: unknown): string {
  return `${JSON.stringify({ type, object })}\n`;
}
function status(code: number, reason: StatusReason): unknown {
  return newStatusError(code, reason, `model ${code}`).status;
}
