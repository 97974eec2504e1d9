// A Node stream as the body of an answer.
import type { Readable } from 'node:stream';
import { TransportError } from '../errors.ts';
import { toTransportError } from './network-errors.ts';
import type { BodySink, TransportBody } from './transport.ts';

/** After `destroy` the stream's late errors are swallowed: an abort of our own is no failure. */
export function nodeStreamBody(stream: Readable, what: string): TransportBody {
  let destroyed = false;
  // Without a listener an error between the headers and `consume` would end the process.
  let failed: Error | undefined;
  stream.on('error', (error: Error) => {
    failed ??= error;
  });
  return {
    consume(sink: BodySink) {
      let settled = false;
      const fail = (error: Error): void => {
        if (settled || destroyed) return;
        settled = true;
        sink.error(toTransportError(error, `body of ${what}`));
      };
      if (failed !== undefined) return fail(failed);
      stream.on('error', fail);
      stream.on('data', (chunk: Uint8Array) => {
        if (!settled && !destroyed) sink.data(chunk);
      });
      stream.on('end', () => {
        if (settled || destroyed) return;
        settled = true;
        sink.end();
      });
      stream.on('close', () => {
        fail(new TransportError('UNEXPECTED_EOF', `body of ${what} ended early`));
      });
    },
    pause: () => void stream.pause(),
    resume: () => void stream.resume(),
    destroy() {
      if (destroyed) return;
      destroyed = true;
      stream.destroy();
    },
  };
}
