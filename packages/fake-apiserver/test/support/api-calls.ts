// Requests to a server in this process, in the short form tests want: a path and a body in, a status and JSON out.
import { VirtualClock } from '@kube-rx/apimachinery';
import { type FakeApiServer, type FakeApiServerOptions, startFakeApiServer } from '../../src/index.ts';
import { WatchStream } from './watch-stream.ts';

/** JSON read without a type. */
// biome-ignore lint/suspicious/noExplicitAny: what a test reads is what it is about
export type Json = any;

export interface ApiAnswer {
  readonly code: number;
  readonly body: Json;
  readonly headers: Headers;
}

export class ApiCalls implements AsyncDisposable {
  readonly server: FakeApiServer;
  readonly clock: VirtualClock;

  private constructor(server: FakeApiServer, clock: VirtualClock) {
    this.server = server;
    this.clock = clock;
  }

  /** Without sockets, in virtual time, with a random source that always says a half unless told otherwise. */
  static async start(options: FakeApiServerOptions = {}): Promise<ApiCalls> {
    const clock = new VirtualClock();
    const server = await startFakeApiServer({
      listen: false,
      clock,
      random: () => 0.5,
      etcdCompactionIntervalMs: 0,
      ...options,
    });
    await clock.advance(1000);
    return new ApiCalls(server, clock);
  }

  async call(method: string, path: string, body?: unknown, type = 'application/json'): Promise<ApiAnswer> {
    const response = await this.server.fetch(path, {
      method,
      ...(body === undefined
        ? {}
        : { headers: { 'content-type': type }, body: typeof body === 'string' ? body : JSON.stringify(body) }),
    });
    const text = await response.text();
    return { code: response.status, body: text === '' ? undefined : parse(text), headers: response.headers };
  }

  get(path: string): Promise<ApiAnswer> {
    return this.call('GET', path);
  }

  post(path: string, body: unknown): Promise<ApiAnswer> {
    return this.call('POST', path, body);
  }

  /** Creates an object and answers with its version; anything but 201 is an error. */
  async make(path: string, name: string, more: object = {}): Promise<number> {
    const { code, body } = await this.post(path, { metadata: { name }, ...more });
    if (code !== 201) throw new Error(`${path}/${name}: ${code} ${JSON.stringify(body)}`);
    return Number(body.metadata.resourceVersion);
  }

  /** A merge patch; answers with the new version. */
  async change(path: string, patch: object): Promise<number> {
    const { code, body } = await this.call('PATCH', path, patch, 'application/merge-patch+json');
    if (code !== 200) throw new Error(`${path}: ${code} ${JSON.stringify(body)}`);
    return Number(body.metadata.resourceVersion);
  }

  /** Version of etcd as a list that must be up to date tells it. */
  async revision(path = '/api/v1/namespaces'): Promise<number> {
    return Number((await this.get(path)).body.metadata.resourceVersion);
  }

  /** Resolves when the cache of the resource has seen that version. */
  async cached(path: string, version: number): Promise<void> {
    await this.get(`${path}?resourceVersion=${version}`);
  }

  watch(path: string, query: string): Promise<WatchStream> {
    return WatchStream.open(this.server, `${path}?watch=1&${query}`);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.server.destroy();
  }
}

function parse(text: string): Json {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
