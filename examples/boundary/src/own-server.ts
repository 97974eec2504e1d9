// The API server of this run, its kubeconfig on disk, and clients for it.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type FakeApiServer, isListenFailed, startFakeApiServer } from '@kube-rx/fake-apiserver';
import { type ConnectedClient, createClient, type KubeClient } from '@kube-rx/informer';
import { UsageError } from './options.ts';

export interface OwnServerOptions {
  readonly port: number;
}

// A real ring keeps at least 100 events and grows while they are young; it would take minutes to see one slide.
const RING_CAPACITY = 32;
// A real server sends bookmarks once a minute; here no watch lives that long.
const BOOKMARK_MS = 2_000;

export class OwnServer implements AsyncDisposable {
  /** Events that the watch cache of each resource remembers. */
  readonly ringCapacity: number = RING_CAPACITY;
  /** Path of a kubeconfig for this server, readable by its owner only, gone at the end. */
  readonly kubeconfig: string;
  readonly #server: FakeApiServer;
  readonly #folder: string;
  readonly #direct: ConnectedClient;

  private constructor(server: FakeApiServer) {
    this.#server = server;
    this.#folder = mkdtempSync(join(tmpdir(), 'kube-rx-'));
    this.kubeconfig = join(this.#folder, 'kubeconfig');
    writeFileSync(this.kubeconfig, server.kubeconfig, { mode: 0o600 });
    this.#direct = this.connect(this.port);
  }

  static async start({ port }: OwnServerOptions): Promise<OwnServer> {
    try {
      const server = await startFakeApiServer({
        port,
        watchCacheConstants: {
          lowerBoundCapacity: RING_CAPACITY,
          upperBoundCapacity: RING_CAPACITY,
          bookmarkFrequencyMs: BOOKMARK_MS,
        },
      });
      return new OwnServer(server);
    } catch (error) {
      if (!isListenFailed(error)) throw error;
      const { code } = (error as { cause?: { code?: unknown } }).cause ?? {};
      const why = code === 'EADDRINUSE' ? 'it is in use' : `it cannot be opened (${String(code)})`;
      throw new UsageError(`cannot use port ${port}: ${why}`, { cause: error });
    }
  }

  get url(): string {
    return this.#server.url;
  }

  get port(): number {
    return Number(new URL(this.url).port);
  }

  /** A client that no fault of the network reaches. */
  get client(): KubeClient {
    return this.#direct;
  }

  /** A client that speaks to this server through another port of the loopback. */
  connect(port: number): ConnectedClient {
    return createClient({ server: `https://127.0.0.1:${port}`, token: this.#server.token, ca: this.#server.ca });
  }

  /** Throws away etcd's history; resolves to the revision that is the oldest now. */
  compact(): Promise<number> {
    return this.#server.compact();
  }

  /** As after a crash: all connections end, the data stays. */
  restart(): Promise<void> {
    return this.#server.restart();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#direct[Symbol.asyncDispose]();
    await this.#server.close();
    rmSync(this.#folder, { recursive: true, force: true });
  }
}
