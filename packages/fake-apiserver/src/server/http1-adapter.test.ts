import { EventEmitter } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
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
