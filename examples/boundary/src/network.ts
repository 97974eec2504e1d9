// The wire between the informers and the server, as a loopback port of our own, so that it can be cut without touching either.
import { type AddressInfo, createConnection, createServer, type Server, type Socket } from 'node:net';

/** Passes TCP connections on; `cut` resets them, `down` also refuses new ones until `up`. */
export class Network implements AsyncDisposable {
  readonly #server: Server;
  readonly #targetPort: number;
  readonly #pairs = new Set<readonly [Socket, Socket]>();
  #isDown = false;

  private constructor(targetPort: number) {
    this.#targetPort = targetPort;
    this.#server = createServer({ allowHalfOpen: true }, (client) => this.#accept(client));
  }

  static async open(targetPort: number): Promise<Network> {
    const network = new Network(targetPort);
    await new Promise<void>((resolve, reject) => {
      network.#server.once('error', reject);
      network.#server.listen(0, '127.0.0.1', resolve);
    });
    return network;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  /** Resets all connections; says how many. */
  cut(): number {
    const count = this.#pairs.size;
    for (const pair of this.#pairs) for (const socket of pair) socket.resetAndDestroy();
    return count;
  }

  down(): number {
    this.#isDown = true;
    return this.cut();
  }

  up(): void {
    this.#isDown = false;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.down();
    await new Promise<void>((resolve) => {
      this.#server.close(() => resolve());
    });
  }

  #accept(client: Socket): void {
    if (this.#isDown) {
      client.on('error', () => {});
      client.resetAndDestroy();
      return;
    }
    const upstream = createConnection({ port: this.#targetPort, host: '127.0.0.1', allowHalfOpen: true });
    const pair = [client, upstream] as const;
    this.#pairs.add(pair);
    const reset = (): void => {
      for (const socket of pair) if (!socket.destroyed) socket.resetAndDestroy();
    };
    for (const socket of pair) {
      socket.setNoDelay(true);
      socket.on('error', reset);
      socket.on('close', () => {
        if (pair.every(({ destroyed }) => destroyed)) this.#pairs.delete(pair);
      });
    }
    client.pipe(upstream);
    upstream.pipe(client);
  }
}
