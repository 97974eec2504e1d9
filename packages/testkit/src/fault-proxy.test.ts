import { type AddressInfo, createConnection, createServer, type Server, type Socket } from 'node:net';
import { VirtualClock } from '@kube-rx/apimachinery';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { FaultProxy } from './fault-proxy.ts';
import { type LeakGuard, leakGuard } from './leak-guard.ts';
import { Recording } from './recording.ts';

/** A peer whose received text and fate can be waited for. */
class Peer {
  readonly chunks = new Recording<string>();
  readonly fate = new Recording<string>();
  readonly socket: Socket;

  constructor(socket: Socket) {
    this.socket = socket;
    socket.setEncoding('utf8');
    socket.on('data', (text: string) => this.chunks.push(text));
    socket.on('end', () => this.fate.push('end'));
    socket.on('error', (error: NodeJS.ErrnoException) => this.fate.push(error.code ?? 'error'));
    socket.on('close', () => this.fate.push('close'));
  }

  get text(): string {
    return this.chunks.items.join('');
  }

  receives(text: string): Promise<void> {
    return this.chunks.waitFor((items) => items.join('').includes(text));
  }

  meets(fate: string): Promise<void> {
    return this.fate.waitFor((items) => items.includes(fate));
  }
}

describe('FaultProxy', () => {
  let guard: LeakGuard;
  let server: Server;
  let accepted: Recording<Peer>;
  let proxy: FaultProxy;
  const clock = new VirtualClock();
  const sockets: Socket[] = [];

  const connect = (): Peer => {
    const socket = createConnection({ port: proxy.port, host: '127.0.0.1', allowHalfOpen: true });
    sockets.push(socket);
    return new Peer(socket);
  };
  const connectPair = async (): Promise<[Peer, Peer]> => {
    const count = accepted.items.length;
    const client = connect();
    await accepted.waitForCount(count + 1);
    return [client, accepted.items[count]!];
  };

  beforeEach(async () => {
    guard = leakGuard();
    accepted = new Recording();
    server = createServer({ allowHalfOpen: true }, (socket) => {
      sockets.push(socket);
      accepted.push(new Peer(socket));
    });
    await new Promise<void>((resolve) => {
      server.listen(0, '127.0.0.1', resolve);
    });
    proxy = await FaultProxy.listen({ targetPort: (server.address() as AddressInfo).port, clock });
  });

  afterEach(async () => {
    await proxy.close();
    for (const socket of sockets.splice(0)) socket.destroy();
    await new Promise((resolve) => server.close(resolve));
    await guard.check();
  });

  it('passes bytes and ends in both directions', async () => {
    const [client, peer] = await connectPair();
    client.socket.write('question');
    await peer.receives('question');
    client.socket.end();
    await peer.meets('end');
    peer.socket.end('answer');
    await client.receives('answer');
    await client.meets('close');
    expect(client.fate.items).toEqual(['end', 'close']);
    expect(proxy.accepted).toBe(1);
  });

  it('resets every connection when cut, and takes new ones', async () => {
    const pairs = [await connectPair(), await connectPair()];
    expect(proxy.cut()).toBe(2);
    for (const peer of pairs.flat()) await peer.meets('ECONNRESET');
    expect(proxy.connections).toBe(0);
    const [client, peer] = await connectPair();
    client.socket.write('again');
    await peer.receives('again');
  });

  it('lets so many bytes through before it resets, only to the client and only on connections that are open', async () => {
    const [client, peer] = await connectPair();
    expect(proxy.cutAfter(10)).toBe(1);
    client.socket.write('a long question');
    await peer.receives('a long question');
    peer.socket.write('one, ');
    await client.receives('one, ');
    peer.socket.write('two, ');
    peer.socket.write('three, four');
    // A reset right behind data reaches some clients as an end.
    await Promise.race([client.meets('close'), client.meets('end')]);
    expect(client.text).toBe('one, two, ');
    await peer.meets('close');
    expect(proxy.connections).toBe(0);
    const [other, otherPeer] = await connectPair();
    otherPeer.socket.write('one, two, three');
    await other.receives('one, two, three');
  });

  it('keeps both sides connected when silent, and a connection that lost something silent for good', async () => {
    const [client, peer] = await connectPair();
    client.socket.write('a');
    await peer.receives('a');
    const [bystander, bystanderPeer] = await connectPair();
    proxy.mode = 'silent';
    client.socket.write('lost');
    peer.socket.write('too');
    while (proxy.swallowedBytes < 7) await new Promise((resolve) => setImmediate(resolve));
    proxy.mode = 'pass';
    client.socket.write('b');
    while (proxy.swallowedBytes < 8) await new Promise((resolve) => setImmediate(resolve));
    bystander.socket.write('here');
    await bystanderPeer.receives('here');
    expect([peer.text, client.text]).toEqual(['a', '']);
    expect([client.fate.items, peer.fate.items]).toEqual([[], []]);
    expect(proxy.cut()).toBe(2);
    await client.meets('ECONNRESET');
  });

  it('holds bytes back when stalled and delivers all of them afterwards, in order', async () => {
    const [client, peer] = await connectPair();
    proxy.mode = 'stall';
    const text = Array.from({ length: 20_000 }, (_, index) => `line ${index}\n`).join('');
    client.socket.write(text);
    await new Promise((resolve) => setImmediate(resolve));
    expect(peer.text).toBe('');
    proxy.mode = 'pass';
    await peer.receives('line 19999\n');
    expect(peer.text).toBe(text);
  });

  it('refuses new connections and leaves old ones alone', async () => {
    const [client, peer] = await connectPair();
    proxy.mode = 'refuse';
    const refused = connect();
    await refused.meets('close');
    expect(refused.fate.items[0]).toBe('ECONNRESET');
    client.socket.write('still here');
    await peer.receives('still here');
  });

  it('delays by the clock and keeps the order', async () => {
    const [client, peer] = await connectPair();
    proxy.delayMs = 1_000;
    client.socket.write('slow');
    while (clock.pendingTimers === 0) await new Promise((resolve) => setImmediate(resolve));
    await clock.advance(999);
    expect(peer.text).toBe('');
    proxy.delayMs = 0;
    client.socket.end('fast');
    await clock.advance(1);
    await peer.meets('end');
    expect(peer.text).toBe('slowfast');
    expect(clock.pendingTimers).toBe(0);
  });

  it('resets the client when the target cannot be reached', async () => {
    await new Promise((resolve) => server.close(resolve));
    const client = connect();
    await client.meets('close');
    expect(client.fate.items).toContain('ECONNRESET');
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  });

  it('rejects when its port is taken', async () => {
    await expect(FaultProxy.listen({ targetPort: 1, port: proxy.port })).rejects.toThrow('EADDRINUSE');
  });
});
