// Watches over WebSocket.
import type { IncomingMessage } from 'node:http';
import { WebSocket } from 'ws';
import { headOf, readWhole } from './http1-wire.ts';
import { DocumentStream, type WireAnswer, type WireRequest, type WireStream } from './wire.ts';

/** The head of a stream is that of the handshake; an answer is what refused it. */
export function openWebSocket(
  url: string,
  request: WireRequest,
  protocols: readonly string[],
): Promise<WireStream | WireAnswer> {
  const socket = new WebSocket(new URL(request.target, url.replace(/^http/, 'ws')), [...protocols], {
    headers: request.headers,
    perMessageDeflate: false,
  });
  return new Promise((resolve, reject) => {
    socket.on('error', reject);
    socket.once('unexpected-response', (_request: unknown, message: IncomingMessage) =>
      readWhole(message).then(resolve, reject),
    );
    socket.once('upgrade', (message: IncomingMessage) => {
      const stream = new DocumentStream(
        { ...headOf(message), framing: undefined },
        {
          pause: () => socket.pause(),
          resume: () => socket.resume(),
          destroy: () => socket.terminate(),
        },
        [],
      );
      socket.on('message', (data: Buffer, binary: boolean) =>
        stream.takeFrame(data.toString('utf8'), binary ? 'binary' : 'text'),
      );
      socket.once('close', (code) => stream.end(`ws:${code}`));
      resolve(stream);
    });
  });
}
