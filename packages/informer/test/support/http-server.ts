// A scripted HTTP server on a free port of the loopback interface.
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { createServer } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';

export interface TestServer extends AsyncDisposable {
  readonly url: string;
  readonly server: Server;
  /** Connections that are open now. */
  readonly sockets: ReadonlySet<Socket>;
}

export async function startTestServer(
  handle: (request: IncomingMessage, response: ServerResponse) => void,
): Promise<TestServer> {
  const server = createServer(handle);
  const sockets = new Set<Socket>();
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    server,
    sockets,
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** Resolves when the condition is true; looks again after each turn of the event loop, for at most five seconds. */
export async function eventually(condition: () => boolean): Promise<void> {
  const deadline = performance.now() + 5000;
  while (!condition()) {
    if (performance.now() > deadline) throw new Error(`still not true after five seconds: ${condition.toString()}`);
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
}
