// A server in this process whose time stands still, and connections to it over loopback.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { VirtualClock } from '@kube-rx/apimachinery';
import { type FakeApiServer, type FakeApiServerOptions, startFakeApiServer } from '../../src/index.ts';
import { VirtualTime } from './virtual-time.ts';
import { Http1Wire } from './wire/http1-wire.ts';
import { Http2Wire } from './wire/http2-wire.ts';
import { openWebSocket } from './wire/websocket-wire.ts';
import type { Wire, WireAnswer, WireRequest, WireStream } from './wire/wire.ts';

export type HttpVersion = '1.1' | '2';

export interface Setup {
  readonly options?: FakeApiServerOptions;
  /** What steps speak that name no version. */
  readonly http?: HttpVersion;
  /** Data on disk, so that a restart is that of a new server over the same folder. */
  readonly onDisk?: boolean;
}

// Not a time that a case could have written down itself.
const START_MS = Date.UTC(2024, 4, 6, 7, 8, 9, 123);

export class ServerUnderTest implements AsyncDisposable {
  readonly time: VirtualTime;
  readonly #options: FakeApiServerOptions;
  readonly #http: HttpVersion;
  #server: FakeApiServer;
  #wires: Readonly<Record<HttpVersion, Wire>>;
  readonly #streams: WireStream[] = [];
  #turns = 0;

  private constructor(options: FakeApiServerOptions, clock: VirtualClock, http: HttpVersion, server: FakeApiServer) {
    this.time = new VirtualTime(clock);
    this.#options = options;
    this.#http = http;
    this.#server = server;
    this.#wires = wiresTo(server);
  }

  static async start({ options = {}, http = '1.1', onDisk = false }: Setup = {}): Promise<ServerUnderTest> {
    const clock = new VirtualClock({ startMs: START_MS });
    const all: FakeApiServerOptions = {
      insecure: true,
      clock,
      random: pseudoRandom(),
      etcdCompactionIntervalMs: 0,
      ...(onDisk && { dataDir: mkdtempSync(join(tmpdir(), 'recorded-')) }),
      ...options,
    };
    const server = new ServerUnderTest(all, clock, http, await startFakeApiServer(all));
    await server.time.pass(1000);
    return server;
  }

  get token(): string {
    return this.#server.token;
  }

  wire(http: HttpVersion = this.#http): Wire {
    return this.#wires[http];
  }

  webSocket(request: WireRequest, protocols: readonly string[]): Promise<WireStream | WireAnswer> {
    return openWebSocket(this.#server.url, request, protocols);
  }

  /** Which case this is on the server, from 1. */
  nextTurn(): number {
    return ++this.#turns;
  }

  /** The stream is closed with {@link closeStreams}. */
  own(stream: WireStream): void {
    this.#streams.push(stream);
  }

  async closeStreams(): Promise<void> {
    for (const stream of this.#streams.splice(0)) stream.close();
    await this.time.settle();
  }

  async compact(revision: number): Promise<void> {
    await this.#server.compact(revision);
  }

  async restart(): Promise<void> {
    await this.#disconnect();
    await this.#server.destroy();
    this.#server = await startFakeApiServer(this.#options);
    this.#wires = wiresTo(this.#server);
    await this.time.pass(1000);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#disconnect();
    await this.#server.destroy();
    if (this.#options.dataDir !== undefined) rmSync(this.#options.dataDir, { recursive: true, force: true });
  }

  async #disconnect(): Promise<void> {
    await this.closeStreams();
    for (const wire of Object.values(this.#wires)) wire.destroy();
  }
}

const wiresTo = ({ url }: FakeApiServer): Readonly<Record<HttpVersion, Wire>> => ({
  '1.1': new Http1Wire(url),
  '2': new Http2Wire(url),
});

/** Names and uids differ from each other, and are the same in every run. */
function pseudoRandom(): () => number {
  let state = 1;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}
