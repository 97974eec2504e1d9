// An HTTP/2 stream as the body of an answer.
import type { ClientHttp2Stream } from 'node:http2';
import type { Transform } from 'node:stream';
import { TransportError } from '../errors.ts';
import { toTransportError } from './network-errors.ts';
import type { BodySink, TransportBody } from './transport.ts';

// The codes of a reset, RFC 9113.
const NO_ERROR = 0;
const CANCEL = 8;

/** Node ends a stream that the peer cut as if it were complete; only the reset code tells. */
function cutShort(stream: ClientHttp2Stream): boolean {
  return (stream.rstCode ?? NO_ERROR) !== NO_ERROR;
}

/** Tells the server that nobody wants the rest. */
export function cancelStream(stream: ClientHttp2Stream): void {
  if (stream.destroyed) return;
  stream.close(CANCEL);
  stream.destroy();
}

/** `unpack` gets what the stream sends, when it is packed. While paused the server is granted no more than one window. */
export function http2Body(
  stream: ClientHttp2Stream,
  unpack: Transform | undefined,
  what: string,
  connection: { activity(): void; suspect(): void },
): TransportBody {
  const source = unpack ?? stream;
  let receiver: BodySink | undefined;
  let destroyed = false;
  let ended = false;
  let failed: Error | undefined;
  const eof = (): TransportError => new TransportError('UNEXPECTED_EOF', `body of ${what} ended early`);
  const finish = (error: Error | undefined): void => {
    if (error !== undefined) failed ??= error;
    ended = true;
    const last = receiver;
    if (last === undefined || destroyed) return;
    receiver = undefined;
    if (failed === undefined) last.end();
    else last.error(toTransportError(failed, `body of ${what}`));
  };
  stream.on('error', (error: Error) => finish(error));
  stream.once('close', () => {
    if (unpack === undefined || cutShort(stream)) finish(cutShort(stream) ? eof() : undefined);
    if (cutShort(stream)) unpack?.destroy();
  });
  unpack?.on('error', (error: Error) => finish(error));
  unpack?.once('end', () => finish(undefined));
  if (unpack !== undefined) stream.pipe(unpack);
  return {
    consume(sink) {
      receiver = sink;
      if (ended) return finish(undefined);
      source.on('data', (chunk: Uint8Array) => {
        connection.activity();
        if (!destroyed) receiver?.data(chunk);
      });
    },
    pause: () => void source.pause(),
    resume: () => void source.resume(),
    destroy() {
      if (destroyed) return;
      destroyed = true;
      receiver = undefined;
      if (!stream.closed) connection.suspect();
      cancelStream(stream);
      unpack?.destroy();
    },
  };
}
