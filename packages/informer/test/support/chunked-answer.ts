// Answers with chunked bodies, byte by byte as a server writes them, and what a transport makes of them.
import type { AddressInfo, Server, Socket } from 'node:net';
import { TransportError } from '../../src/errors.ts';
import type { Transport, TransportPurpose, TransportResponse } from '../../src/rest/transport.ts';
import { eventually } from './http-server.ts';
import { RecordingSink } from './recording-sink.ts';

export const HEAD = 'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n';
export const END = '0\r\n\r\n';
export const chunk = (data: string): string => `${Buffer.byteLength(data).toString(16)}\r\n${data}\r\n`;
export const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** The port of the loopback interface that the server got. */
export async function listen(server: Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return (server.address() as AddressInfo).port;
}

/** What a server does with a request: writes these pieces, each in a turn of its own, and then maybe ends the connection. */
export interface Script {
  readonly pieces: readonly (string | Buffer)[];
  readonly after?: 'keep' | 'end' | 'reset';
}

/** For the connections of a server: plays the script that is current when a request is there. */
export function playOn(socket: Socket, current: () => Script): void {
  socket.setNoDelay(true);
  socket.on('error', () => {});
  let head = '';
  socket.on('data', (bytes) => {
    head += String(bytes);
    if (!head.endsWith('\r\n\r\n')) return;
    head = '';
    void play(socket, current());
  });
}

async function play(socket: Socket, { pieces, after = 'keep' }: Script): Promise<void> {
  for (const piece of pieces) {
    socket.write(piece);
    await nextTurn();
  }
  if (after === 'end') socket.end();
  if (after === 'reset') socket.resetAndDestroy();
}

/** Status, text and end of the answer in one line. */
export async function outcome(transport: Transport, url: string, purpose: TransportPurpose): Promise<string> {
  let answer: TransportResponse;
  try {
    answer = await transport.send({ method: 'GET', url, headers: {}, purpose });
  } catch (error) {
    return `refused ${(error as TransportError).code}`;
  }
  const sink = new RecordingSink();
  answer.body.consume(sink);
  await eventually(() => sink.ended !== 'open');
  const end = sink.ended instanceof TransportError ? sink.ended.code : sink.ended;
  return `${answer.status} ${JSON.stringify(sink.text)} ${end}`;
}
