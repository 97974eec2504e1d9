// A TCP proxy on the loopback that misbehaves on demand, so that a client meets a bad network without one.
import { type AddressInfo, createConnection, createServer, type Server, type Socket } from 'node:net';
import { type Clock, type ClockTimer, realClock } from '@kube-rx/apimachinery';

/**
 * - `pass`: bytes flow.
 * - `silent`: both sides stay connected, bytes and ends vanish: the peer is gone and nobody said so. A connection that lost
 *   something stays silent in every later mode, since no network gives back the rest of a stream without its middle.
 * - `stall`: nothing is read; buffers fill up until the senders stop. Bytes are not lost.
 * - `refuse`: new connections are reset, old ones go on.
 */
export type ProxyMode = 'pass' | 'silent' | 'stall' | 'refuse';

export interface FaultProxyOptions {
  readonly targetPort: number;
  /** Default 127.0.0.1. */
  readonly targetHost?: string;
  /** Default 0: any free port. */
  readonly port?: number;
  /** For {@link FaultProxy.delayMs}. Default the real clock. */
  readonly clock?: Clock;
}

interface Chunk {
  readonly bytes: Buffer;
  readonly dueAt: number;
}

/**
 * @example
 * await using proxy = await FaultProxy.listen({ targetPort: server.port });
 * client.connect(proxy.port);
 * proxy.cut(); // every connection is reset
 */
export class FaultProxy implements AsyncDisposable {
  /** Added to the way of every chunk, in both directions; their order stays. */
  delayMs = 0;
  readonly #server: Server;
  readonly #options: FaultProxyOptions;
  readonly #links = new Set<Link>();
  #mode: ProxyMode = 'pass';
  #accepted = 0;
  #swallowedBytes = 0;

  private constructor(options: FaultProxyOptions) {
    this.#options = options;
    // Half-open sockets are kept: an end is passed on only after the bytes before it.
    this.#server = createServer({ allowHalfOpen: true }, (client) => this.#accept(client));
  }

  static async listen(options: FaultProxyOptions): Promise<FaultProxy> {
    const proxy = new FaultProxy(options);
    await new Promise<void>((resolve, reject) => {
      proxy.#server.once('error', reject);
      proxy.#server.listen(options.port ?? 0, '127.0.0.1', () => {
        proxy.#server.off('error', reject);
        resolve();
      });
    });
    return proxy;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  /** Connections open now. */
  get connections(): number {
    return this.#links.size;
  }

  /** Connections since the start, refused ones included. */
  get accepted(): number {
    return this.#accepted;
  }

  /** Bytes that `silent` made vanish. */
  get swallowedBytes(): number {
    return this.#swallowedBytes;
  }

  get mode(): ProxyMode {
    return this.#mode;
  }

  /** Applies to open connections too, but for those that `silent` has taken something from. */
  set mode(mode: ProxyMode) {
    this.#mode = mode;
    for (const link of this.#links) link.apply(mode);
  }

  /** Resets every open connection and says how many there were. */
  cut(): number {
    const count = this.#links.size;
    for (const link of this.#links) link.reset();
    return count;
  }

  /**
   * Lets `bytes` more through to the client of each open connection and resets it then, so that a message can end in its middle. Says
   * how many there were.
   */
  cutAfter(bytes: number): number {
    for (const link of this.#links) link.cutAfter(bytes);
    return this.#links.size;
  }

  /** Ends all connections and stops listening. Idempotent. */
  async close(): Promise<void> {
    this.cut();
    if (!this.#server.listening) return;
    await new Promise<void>((resolve) => {
      this.#server.close(() => resolve());
    });
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  #accept(client: Socket): void {
    this.#accepted++;
    if (this.#mode === 'refuse') {
      client.on('error', () => {});
      client.resetAndDestroy();
      return;
    }
    const { targetPort, targetHost = '127.0.0.1', clock = realClock } = this.#options;
    const upstream = createConnection({ port: targetPort, host: targetHost, allowHalfOpen: true });
    const link: Link = new Link([client, upstream], {
      clock,
      delayMs: () => this.delayMs,
      onSwallow: (count) => {
        this.#swallowedBytes += count;
        link.isDead = true;
      },
    });
    this.#links.add(link);
    link.onClose = () => this.#links.delete(link);
    link.apply(this.#mode);
  }
}

interface WayOptions {
  readonly clock: Clock;
  readonly delayMs: () => number;
  readonly onSwallow: (bytes: number) => void;
}

/** One proxied connection: two sockets and the way of the bytes between them. */
class Link {
  onClose: () => void = () => {};
  /** Something was lost on the way. */
  isDead = false;
  readonly #sockets: readonly [Socket, Socket];
  readonly #ways: readonly Way[];

  constructor(sockets: readonly [Socket, Socket], options: WayOptions) {
    this.#sockets = sockets;
    const [client, upstream] = sockets;
    this.#ways = [new Way(client, upstream, options), new Way(upstream, client, options)];
    for (const socket of sockets) {
      socket.setNoDelay(true);
      socket.on('error', () => this.reset());
      socket.on('close', () => {
        for (const way of this.#ways) way.stop();
        // A socket that ended in order leaves its peer the time to get the last bytes.
        if (sockets.every((other) => other.destroyed)) this.onClose();
        else if (socket.errored !== null) this.reset();
      });
    }
  }

  apply(mode: ProxyMode): void {
    for (const way of this.#ways) way.apply(this.isDead ? 'silent' : mode);
  }

  cutAfter(bytes: number): void {
    this.#ways[1]!.cutAfter(bytes, () => this.reset());
  }

  reset(): void {
    for (const socket of this.#sockets) if (!socket.destroyed) socket.resetAndDestroy();
  }
}

/** One direction: reads from one socket, writes to the other, late if so wanted. */
class Way {
  readonly #from: Socket;
  readonly #to: Socket;
  readonly #clock: Clock;
  readonly #onSwallow: (bytes: number) => void;
  readonly #waiting: (Chunk | 'end')[] = [];
  #mode: ProxyMode = 'pass';
  #timer: ClockTimer | undefined;
  #limit: { left: number; readonly onReached: () => void } | undefined;

  constructor(from: Socket, to: Socket, { clock, delayMs, onSwallow }: WayOptions) {
    this.#from = from;
    this.#to = to;
    this.#clock = clock;
    this.#onSwallow = onSwallow;
    from.on('data', (bytes: Buffer) => {
      if (this.#mode === 'silent') return onSwallow(bytes.length);
      this.#waiting.push({ bytes, dueAt: clock.now() + delayMs() });
      this.#flush();
    });
    from.on('end', () => {
      if (this.#mode === 'silent') return onSwallow(0);
      this.#waiting.push('end');
      this.#flush();
    });
    to.on('drain', () => this.#resume());
  }

  apply(mode: ProxyMode): void {
    this.#mode = mode;
    if (mode === 'stall') {
      this.#from.pause();
      return;
    }
    if (mode === 'silent' && this.#waiting.length > 0) {
      const lost = this.#waiting.splice(0);
      this.#onSwallow(lost.reduce((sum, chunk) => sum + (chunk === 'end' ? 0 : chunk.bytes.length), 0));
    }
    this.#resume();
    this.#flush();
  }

  cutAfter(bytes: number, onReached: () => void): void {
    this.#limit ??= { left: bytes, onReached };
  }

  stop(): void {
    this.#timer?.cancel();
    this.#waiting.length = 0;
  }

  #resume(): void {
    if (this.#mode !== 'stall') this.#from.resume();
  }

  #flush(): void {
    if (this.#mode === 'stall') return;
    for (let next = this.#waiting[0]; next !== undefined; next = this.#waiting[0]) {
      if (next === 'end') {
        this.#to.end();
      } else {
        const leftMs = next.dueAt - this.#clock.now();
        if (leftMs > 0) {
          this.#timer?.cancel();
          this.#timer = this.#clock.setTimer(() => this.#flush(), leftMs);
          return;
        }
        if (!this.#write(next.bytes)) return;
      }
      this.#waiting.shift();
    }
  }

  /** False when the limit is reached: nothing comes after it. */
  #write(bytes: Buffer): boolean {
    if (this.#to.destroyed) return true;
    const limit = this.#limit;
    if (limit !== undefined && bytes.length > limit.left) {
      // Reset once the kernel has them: earlier, they would be lost with the connection.
      this.#to.write(bytes.subarray(0, limit.left), () => limit.onReached());
      limit.left = 0;
      this.stop();
      return false;
    }
    if (limit !== undefined) limit.left -= bytes.length;
    if (!this.#to.write(bytes)) this.#from.pause();
    return true;
  }
}
