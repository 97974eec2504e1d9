// The server as its users hold it: started, controlled, restarted, closed.
import { type Clock, Lifecycle, realClock, VirtualClock } from '@kube-rx/apimachinery';
import { FakeApiServerError } from '../errors.ts';
import type { EtcdClient } from '../etcd/client.ts';
import { EmbeddedEtcd } from '../etcd/embedded/embedded-etcd.ts';
import { type FakeApiServerOptions, type ResolvedOptions, resolveOptions } from '../options.ts';
import { buildServer, type ServerCore, type ServerState } from './build.ts';
import type { ServerControls } from './control.ts';
import { HttpListener, type ListenerTls } from './http-listener.ts';
import { fetchInProcess } from './in-process-transport.ts';
import { kubeconfigText } from './kubeconfig.ts';
import { CertificateAuthority, type KeyedCertificate, type SubjectName } from './tls/certificates.ts';

/**
 * Starts an API server; it is ready when the promise resolves.
 *
 * @example
 * await using server = await startFakeApiServer();
 * const answer = await server.fetch('/api/v1/namespaces');
 *
 * @throws OptionsError for a setting that cannot be used.
 * @throws FakeApiServerError `LISTEN_FAILED` when the port cannot be had.
 */
export async function startFakeApiServer(options: FakeApiServerOptions = {}): Promise<FakeApiServer> {
  const resolved = resolveOptions(options);
  const etcd =
    resolved.etcd ??
    new EmbeddedEtcd({ clock: resolved.clock, dataDir: resolved.dataDir, progressNotifyIntervalMs: 5_000 });
  const server = new FakeApiServer(resolved, etcd);
  try {
    await server.start();
    return server;
  } catch (error) {
    await server.destroy();
    throw error;
  }
}

/** Made by {@link startFakeApiServer}. */
export class FakeApiServer implements AsyncDisposable {
  readonly #options: ResolvedOptions;
  readonly #etcd: EtcdClient;
  readonly #lifecycle = new Lifecycle();
  readonly #authority: CertificateAuthority | undefined;
  readonly #tls: ListenerTls | undefined;
  #core: ServerCore | undefined;
  #listener: HttpListener | undefined;
  #port: number;

  /** Use {@link startFakeApiServer}. */
  constructor(options: ResolvedOptions, etcd: EtcdClient) {
    this.#options = options;
    this.#etcd = etcd;
    this.#port = options.port;
    if (options.listen && !options.insecure) {
      this.#authority = new CertificateAuthority('kube-rx-fake-ca', realClock.now());
      const leaf = this.#authority.issueServer([
        ...new Set(['localhost', '127.0.0.1', '::1', 'kubernetes', 'kubernetes.default', options.host]),
      ]);
      this.#tls = { cert: leaf.certPem, key: leaf.keyPem, clientCa: this.#authority.certPem };
    }
    if (options.etcd === undefined) this.#lifecycle.defer(() => etcd.close());
  }

  /** `https://127.0.0.1:PORT`, or `http://` when insecure. Without sockets a name that only `fetch` understands. */
  get url(): string {
    if (!this.#options.listen) return 'http://in-process';
    const { host } = this.#options;
    const shown = host.includes(':') ? `[${host}]` : host;
    return `${this.#tls === undefined ? 'http' : 'https'}://${shown}:${this.#port}`;
  }

  /** Token of the administrator, a member of `system:masters`. */
  get token(): string {
    return this.#options.token;
  }

  /** PEM of the authority behind the server's certificate; undefined without TLS. */
  get ca(): string | undefined {
    return this.#authority?.certPem;
  }

  /** Text of a kubeconfig with the administrator's token. */
  get kubeconfig(): string {
    return kubeconfigText({ url: this.url, token: this.token, ca: this.ca });
  }

  /** The server's clock; a VirtualClock when it was asked for. */
  get clock(): Clock {
    return this.#options.clock;
  }

  /** A client certificate of this server's authority; undefined without TLS. */
  issueClientCertificate(subject: SubjectName): KeyedCertificate | undefined {
    return this.#authority?.issueClient(subject);
  }

  /**
   * A request without sockets, as the administrator unless it has an `authorization` header of its own. Relative targets are
   * fine. The body of a watch streams; cancel it or abort the signal to end the watch.
   */
  async fetch(input: string | Request, init: RequestInit = {}): Promise<Response> {
    const core = this.#running();
    const request = new Request(typeof input === 'string' ? new URL(input, 'http://in-process') : input, init);
    if (!request.headers.has('authorization')) request.headers.set('authorization', `Bearer ${this.token}`);
    return fetchInProcess(core.chain.handle, request);
  }

  /**
   * Drops history up to the revision, as a compaction of etcd does; the present one when none is given. Resolves to the revision.
   * Rejects with etcd's error where history is gone already or has not happened yet.
   */
  compact(revision?: number): Promise<number> {
    return this.#running().compact(revision);
  }

  /**
   * Empties the event window of a resource (`pods`, `deployments.apps`), so that watches from the past get 410.
   *
   * @throws OptionsError for a resource without a watch cache.
   */
  slideWindow(resource: string): void {
    this.#running().slideWindow(resource);
  }

  /**
   * Fills the watch cache of a resource anew, as after its own watch of etcd met a compaction: all watches of it end, and one that
   * resumes from before the new list gets 410.
   *
   * @throws OptionsError for a resource without a watch cache.
   */
  reinitialize(resource: string): void {
    this.#running().reinitialize(resource);
  }

  /** Plain data: caches with their windows and watchers, etcd's revisions, running requests. */
  state(): Promise<ServerState> {
    return this.#running().state();
  }

  /** For {@link startFakeApiServer} and {@link restart}. */
  async start(): Promise<void> {
    const controls: ServerControls = {
      compact: (revision) => this.compact(revision),
      slideWindow: (resource) => this.slideWindow(resource),
      reinitialize: (resource) => this.reinitialize(resource),
      state: () => this.state(),
      clock: this.clock,
    };
    this.#core = await buildServer({
      options: this.#options,
      etcd: this.#etcd,
      controls,
      address: () => `${this.#options.host}:${this.#port}`,
    });
    if (!this.#options.listen) return;
    const { chain } = this.#core;
    this.#listener = new HttpListener({
      host: this.#options.host,
      port: this.#port,
      tls: this.#tls,
      clock: this.#options.clock instanceof VirtualClock ? undefined : this.#options.clock,
      handler: chain.handle,
    });
    try {
      this.#port = (await this.#listener.listen()).port;
    } catch (cause) {
      const where = `${this.#options.host}:${this.#port}`;
      throw new FakeApiServerError('LISTEN_FAILED', `cannot listen on ${where}: ${(cause as Error).message}`, {
        cause,
      });
    }
  }

  /** Cuts all connections and starts over on the same data, port and token, as after a crash. */
  async restart(): Promise<void> {
    this.#running();
    await this.#stop(0);
    await this.start();
  }

  /** Takes no new requests, ends watches cleanly, lets running requests finish within the grace period. Idempotent. */
  async close(): Promise<void> {
    await this.#stop(this.#options.closeGraceMs);
    await this.#lifecycle.close();
  }

  /** Cuts everything at once. Idempotent. */
  async destroy(): Promise<void> {
    await this.#stop(0);
    await this.#lifecycle.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #stop(graceMs: number): Promise<void> {
    const core = this.#core;
    const listener = this.#listener;
    this.#core = undefined;
    this.#listener = undefined;
    if (graceMs > 0) core?.endWatches();
    await listener?.close(graceMs);
    core?.endWatches();
    await core?.close();
  }

  #running(): ServerCore {
    if (this.#core === undefined) throw new FakeApiServerError('SERVER_CLOSED', 'the server is not running');
    return this.#core;
  }
}
