// Any transport as a server on a loopback port, so that what was tested in memory is tested over sockets.
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Transport } from '../../src/rest/transport.ts';

export interface TransportServer {
  readonly url: string;
  readonly server: Server;
  close(): Promise<void>;
}

export async function serveTransport(transport: Transport): Promise<TransportServer> {
  const server = createServer((request, response) => void answer(transport, request, response));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    server,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

async function answer(transport: Transport, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const controller = new AbortController();
  response.on('close', () => controller.abort());
  const answered = await transport.send({
    method: request.method ?? 'GET',
    url: `http://model.test${request.url}`,
    headers: request.headers as Record<string, string>,
    body: chunks.length === 0 ? undefined : Buffer.concat(chunks).toString(),
    purpose: 'call',
    signal: controller.signal,
  });
  response.writeHead(answered.status, answered.headers as Record<string, string>);
  response.flushHeaders();
  answered.body.consume({
    data: (chunk) => void response.write(chunk),
    end: () => response.end(),
    error: () => response.destroy(),
  });
}
