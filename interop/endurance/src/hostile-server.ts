// A server that is not to be relied on, behind a network that is not either.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type FakeApiServer, type FakeApiServerOptions, startFakeApiServer } from '@kube-rx/fake-apiserver';
import { FaultProxy } from '@kube-rx/testkit';

export interface HostileServerOptions {
  /** Over TLS a crash keeps the server's memory, since a new life would have another certificate authority. */
  readonly tls: boolean;
  readonly random: () => number;
  /** Resources with a watch cache, which faults are aimed at. */
  readonly resources: readonly string[];
}

export const ACTS = [
  'restart',
  'crash',
  'outage',
  'compact',
  'slide',
  'reinitialize',
  'cut',
  'cut-in-a-message',
  'silence',
  'stall',
  'slow-down',
] as const;
export type Act = (typeof ACTS)[number];

/** Small rings and quick bookmarks: a minute shows what takes a cluster hours. */
const RING = { lowerBoundCapacity: 32, upperBoundCapacity: 64, bookmarkFrequencyMs: 2_000 };

export class HostileServer implements AsyncDisposable {
  readonly counts: Map<Act, number> = new Map<Act, number>();
  readonly #options: HostileServerOptions;
  readonly #folder: string;
  #server: FakeApiServer;
  readonly #proxy: FaultProxy;

  private constructor(options: HostileServerOptions, folder: string, server: FakeApiServer, proxy: FaultProxy) {
    this.#options = options;
    this.#folder = folder;
    this.#server = server;
    this.#proxy = proxy;
  }

  static async start(options: HostileServerOptions): Promise<HostileServer> {
    const folder = mkdtempSync(join(tmpdir(), 'kube-rx-endurance-'));
    const server = await startFakeApiServer(settings(options.tls, folder));
    const proxy = await FaultProxy.listen({ targetPort: portOf(server.url) });
    if (server.ca !== undefined) writeFileSync(join(folder, 'ca.pem'), server.ca);
    return new HostileServer(options, folder, server, proxy);
  }

  /** Where the clients are sent: the port of the network in front. */
  get url(): string {
    return `${this.#options.tls ? 'https' : 'http'}://127.0.0.1:${this.#proxy.port}`;
  }

  /** Where no fault of the network reaches; the server itself may be down. */
  get directUrl(): string {
    return this.#server.url;
  }

  get token(): string {
    return this.#server.token;
  }

  get ca(): string | undefined {
    return this.#server.ca;
  }

  /** File of the certificate authority; undefined without TLS. */
  get caFile(): string | undefined {
    return this.ca === undefined ? undefined : join(this.#folder, 'ca.pem');
  }

  /** Does one thing and resolves when it is over; what it broke is for others to mend. */
  async act(): Promise<Act> {
    const act = this.#pick(ACTS);
    this.counts.set(act, (this.counts.get(act) ?? 0) + 1);
    await this.#do(act);
    return act;
  }

  /** All is well from now on, but for connections that have been lost before. */
  calm(): void {
    this.#proxy.mode = 'pass';
    this.#proxy.delayMs = 0;
    // One that fell silent would be noticed, in minutes.
    this.#proxy.cut();
  }

  /** Open watches of each resource with a watch cache. */
  async watches(): Promise<ReadonlyMap<string, number>> {
    const { caches } = await this.#server.state();
    return new Map(caches.map(({ resource, watchers }) => [resource, watchers.length]));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#proxy.close();
    await this.#server.close();
    rmSync(this.#folder, { recursive: true, force: true });
  }

  async #do(act: Act): Promise<void> {
    switch (act) {
      case 'restart':
        return this.#server.restart();
      case 'crash':
        return this.#crash();
      case 'outage':
        this.#proxy.mode = 'refuse';
        this.#proxy.cut();
        await this.#pause(500, 3_000);
        this.#proxy.mode = 'pass';
        return;
      case 'compact':
        await this.#compact();
        return;
      case 'slide':
        return this.#server.slideWindow(this.#pick(this.#options.resources));
      case 'reinitialize':
        return this.#server.reinitialize(this.#pick(this.#options.resources));
      case 'cut':
        this.#proxy.cut();
        return;
      case 'cut-in-a-message':
        this.#proxy.cutAfter(Math.floor(this.#options.random() * 4_000));
        return;
      case 'silence':
      case 'stall':
        this.#proxy.mode = act === 'silence' ? 'silent' : 'stall';
        await this.#pause(500, 2_500);
        this.#proxy.mode = 'pass';
        return;
      case 'slow-down':
        this.#proxy.delayMs = 20 + this.#options.random() * 300;
        await this.#pause(1_000, 3_000);
        this.#proxy.delayMs = 0;
        return;
    }
  }

  /** Everything but the data directory is lost; for a while nobody listens. */
  async #crash(): Promise<void> {
    const { tls } = this.#options;
    if (tls) return this.#server.restart();
    const { url, token } = this.#server;
    await this.#server.destroy();
    await this.#pause(0, 2_000);
    this.#server = await startFakeApiServer({ ...settings(tls, this.#folder), port: portOf(url), token });
  }

  /** The whole history, or a part of it that is not gone yet. */
  async #compact(): Promise<void> {
    const { etcd } = await this.#server.state();
    const now = Number(etcd.revision);
    const oldest = Number(etcd.compactRevision || 0);
    if (now <= oldest) return;
    await this.#server.compact(oldest + Math.ceil((now - oldest) * this.#options.random()));
  }

  #pause(fromMs: number, toMs: number): Promise<void> {
    return sleep(fromMs + this.#options.random() * (toMs - fromMs));
  }

  #pick<T>(from: readonly T[]): T {
    return from[Math.floor(this.#options.random() * from.length)]!;
  }
}

function settings(tls: boolean, dataDir: string): FakeApiServerOptions {
  return { insecure: !tls, dataDir, watchCacheConstants: RING };
}

const portOf = (url: string): number => Number(new URL(url).port);
