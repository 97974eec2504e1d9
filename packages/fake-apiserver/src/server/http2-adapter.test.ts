import { EventEmitter } from 'node:events';
import type { ServerHttp2Stream } from 'node:http2';
import { describe, expect, it } from 'vitest';
import { Http2Response } from './http2-adapter.ts';

/** A stream that sends nothing. */
class StuckStream extends EventEmitter {
  headersSent = false;
  destroyed = false;
  writableEnded = false;
  writableLength = 0;

  respond(): void {
    this.headersSent = true;
  }

  write(bytes: Buffer): boolean {
    this.writableLength += bytes.length;
    return this.writableLength < 16 * 1024;
  }
}

describe('a watch over HTTP/2', () => {
  it('calls its reader slow after 256 KiB, not at the first sign of it', () => {
    const stream = new StuckStream();
    const body = new Http2Response(stream as unknown as ServerHttp2Stream, 'GET').startStream(200);
    const bytes = Buffer.alloc(1024);
    let taken = 0;
    while (body.writeFrame({ bytes, chunk: bytes })) taken += 1;
    expect(taken).toBe(255);
  });
});
