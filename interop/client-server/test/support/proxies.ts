// What may stand between a client and its server: a plain forwarder, an HTTP proxy that tunnels, a SOCKS5 proxy. Each counts.
import { createServer as createHttp } from 'node:http';
import { type AddressInfo, connect, createServer as createTcp, type Server, type Socket } from 'node:net';

export interface Credentials {
  readonly user: string;
  readonly password: string;
}

export interface TestProxy extends AsyncDisposable {
  readonly port: number;
  /** `HOST:PORT` of every connection that was made through it. */
  readonly tunnels: string[];
  /** Connections that are open now. */
  readonly open: number;
  /** Resets them. */
  cut(): void;
}

/** Everything goes to one port. */
export function forwarder(targetPort: number): Promise<TestProxy> {
  return serve((links) => createTcp((socket) => links.join(socket, '127.0.0.1', targetPort, () => {})));
}

/** CONNECT alone; other requests get 405. */
export function connectProxy(credentials?: Credentials): Promise<TestProxy> {
  return serve((links) => {
    const server = createHttp((_request, response) => void response.writeHead(405).end());
    server.on('connect', (request, socket: Socket) => {
      const expected =
        credentials && `Basic ${Buffer.from(`${credentials.user}:${credentials.password}`).toString('base64')}`;
      if (expected !== undefined && request.headers['proxy-authorization'] !== expected) {
        socket.end('HTTP/1.1 407 Proxy Authentication Required\r\n\r\n');
        return;
      }
      const { hostname, port } = new URL(`tcp://${request.url}`);
      links.join(
        socket,
        hostname,
        Number(port),
        () => void socket.write('HTTP/1.1 200 Connection established\r\n\r\n'),
      );
    });
    return server;
  });
}

/** RFC 1928 with addresses and names, RFC 1929 when there are credentials. Names are looked up by the proxy, all to loopback. */
export function socks5Proxy(credentials?: Credentials): Promise<TestProxy> {
  return serve((links) =>
    createTcp(async (socket) => {
      const bytes = reader(socket);
      const [, methods] = await bytes(2);
      const offered = [...(await bytes(methods!))];
      const method = credentials === undefined ? 0 : 2;
      socket.write(Buffer.from([5, offered.includes(method) ? method : 0xff]));
      if (credentials !== undefined) {
        const user = await bytes((await bytes(2))[1]!);
        const password = await bytes((await bytes(1))[0]!);
        const right = String(user) === credentials.user && String(password) === credentials.password;
        socket.write(Buffer.from([1, right ? 0 : 1]));
        if (!right) return void socket.end();
      }
      const type = (await bytes(4))[3];
      const host =
        type === 1 ? [...(await bytes(4))].join('.') : type === 3 ? String(await bytes((await bytes(1))[0]!)) : '?';
      const port = (await bytes(2)).readUInt16BE();
      const reply = (code: number): void => void socket.write(Buffer.from([5, code, 0, 1, 0, 0, 0, 0, 0, 0]));
      if (host === '?' || host === 'forbidden.test') {
        reply(2);
        socket.end();
        return;
      }
      links.join(socket, host, port, () => reply(0));
    }),
  );
}

/** Takes so many bytes of what comes; what is not taken stays for the next reader. */
function reader(socket: Socket): (count: number) => Promise<Buffer> {
  return (count) =>
    new Promise((resolve) => {
      const take = (): void => {
        const chunk: Buffer | null = count === 0 ? Buffer.alloc(0) : socket.read(count);
        if (chunk === null) socket.once('readable', take);
        else resolve(chunk);
      };
      take();
    });
}

class Links {
  readonly tunnels: string[] = [];
  readonly sockets: Set<Socket> = new Set<Socket>();

  track(socket: Socket): void {
    this.sockets.add(socket);
    socket.on('error', () => {});
    socket.on('close', () => this.sockets.delete(socket));
  }

  join(socket: Socket, host: string, port: number, ready: () => void): void {
    this.tunnels.push(`${host}:${port}`);
    const target = connect(port, host.endsWith('.test') ? '127.0.0.1' : host, () => {
      ready();
      socket.pipe(target).pipe(socket);
    });
    this.track(target);
    socket.on('close', () => target.destroy());
    target.on('close', () => socket.destroy());
  }
}

async function serve(make: (links: Links) => Server): Promise<TestProxy> {
  const links = new Links();
  const clients = new Set<Socket>();
  const server = make(links);
  server.on('connection', (socket: Socket) => {
    clients.add(socket);
    socket.on('error', () => {});
    socket.on('close', () => clients.delete(socket));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const cut = (): void => {
    for (const socket of [...clients, ...links.sockets]) socket.resetAndDestroy();
  };
  return {
    port: (server.address() as AddressInfo).port,
    tunnels: links.tunnels,
    get open() {
      return clients.size;
    },
    cut,
    async [Symbol.asyncDispose]() {
      cut();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}
