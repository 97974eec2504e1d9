import { EventEmitter } from 'node:events';
import { createServer, get, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, it } from 'vitest';
import { Http1Response } from './http1-adapter.ts';

/** A connection as it is within one turn of the event loop: it takes what it is given and sends nothing yet. */
class CorkedSocket extends EventEmitter {
  writableCorked = 0;
  writableLength = 0;

  cork(): void {
    this.writableCorked++;
  }

  uncork(): void {
    this.writableCorked--;
    this.writableLength = 0;
  }

  write(bytes: Buffer): boolean {
    this.writableLength += bytes.length;
    return this.writableLength < 16 * 1024;
  }
}

function startStream(socket: CorkedSocket) {
  const response = Object.assign(new EventEmitter(), {
    ...{ socket, shouldKeepAlive: false, chunkedEncoding: true, destroyed: false, writableEnded: false },
    flushHeaders() {},
  });
  const request = { httpVersion: '1.1' } as IncomingMessage;
  return new Http1Response(request, response as unknown as ServerResponse).startStream(200);
}

describe('a watch over HTTP/1.1', () => {
  const bytes = Buffer.alloc(1024);
  const frame = { bytes, chunk: bytes };

  it('takes the events of many writers in one turn, and calls its reader slow after 256 KiB', () => {
    const body = startStream(new CorkedSocket());
    let taken = 0;
    while (body.writeFrame(frame)) taken++;
    expect(taken).toBe(255);
  });

  it('has room again in the next turn when the kernel took everything', async () => {
    const socket = new CorkedSocket();
    const body = startStream(socket);
    for (let turn = 0; turn < 3; turn++) {
      for (let event = 0; event < 200; event++) expect(body.writeFrame(frame)).toBe(true);
      await new Promise((resolve) => setImmediate(resolve));
      expect(socket.writableLength).toBe(0);
    }
  });
});

describe('a long answer over HTTP/1.1', () => {
  // Each part is different, so that bytes which are overwritten before they are sent show.
  const parts = Array.from({ length: 40_000 }, (_, index) =>
    Buffer.alloc(index % 1000 === 0 ? 100_000 : 1 + (index % 700), String(index)),
  );

  async function serve(client: (response: IncomingMessage) => Promise<void>): Promise<void> {
    let sent: Promise<void> | undefined;
    const server = createServer((request, response) => {
      sent = new Http1Response(request, response).send(200, parts);
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    try {
      const { port } = server.address() as AddressInfo;
      const response = await new Promise<IncomingMessage>((resolve) => get({ host: '127.0.0.1', port }, resolve));
      await client(response);
      await sent;
    } finally {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    }
  }

  it.each([0, 5])('arrives as it was given, with a reader that rests %d turns after each piece', async (turns) => {
    await serve(async (response) => {
      const got: Buffer[] = [];
      for await (const piece of response) {
        got.push(piece as Buffer);
        for (let turn = 0; turn < turns; turn++) await new Promise((resolve) => setImmediate(resolve));
      }
      expect(Buffer.concat(got).equals(Buffer.concat(parts))).toBe(true);
    });
  });

  it('is given up when the client goes away in the middle', async () => {
    await serve(async (response) => {
      await new Promise((resolve) => response.once('data', resolve));
      response.destroy();
    });
  });
});
