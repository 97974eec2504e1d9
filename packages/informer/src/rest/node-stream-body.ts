// A Node stream as the body of an answer.
import type { Readable } from 'node:stream';
import { TransportError } from '../errors.ts';
import type { BodyTap } from './body-tap.ts';
import { toTransportError } from './network-errors.ts';
import type { BodySink, TransportBody } from './transport.ts';

/**
 * After `destroy` the stream's late errors are swallowed: an abort of our own is no failure. With a `tap` most bytes come through it, and
 * the stream tells of the end.
 */
export function nodeStreamBody(stream: Readable, what: string, tap?: BodyTap): TransportBody {
  let destroyed = false;
  // Without a listener an error between the headers and `consume` would end the process.
  let failed: Error | undefined;
  stream.on('error', (error: Error) => {
    failed ??= error;
  });
  return {
    consume(sink: BodySink) {
      // Forgotten at the end: the pool keeps the socket, the socket its last answer, and that would keep everything behind the sink.
      let receiver: BodySink | undefined = sink;
      const finish = (): BodySink | undefined => {
        const last = destroyed ? undefined : receiver;
        receiver = undefined;
        return last;
      };
      const fail = (error: Error): void => finish()?.error(toTransportError(error, `body of ${what}`));
      const early = (): TransportError => new TransportError('UNEXPECTED_EOF', `body of ${what} ended early`);
      // A reset after the last byte closes the stream without a word.
      if (failed !== undefined || stream.destroyed) {
        fail(failed ?? early());
        return;
      }
      stream.on('error', fail);
      const receive = (chunk: Uint8Array): void => {
        if (!destroyed) receiver?.data(chunk);
      };
      stream.on('data', receive);
      stream.on('end', () => finish()?.end());
      stream.on('close', () => fail(early()));
      tap?.start(receive);
    },
    pause() {
      stream.pause();
      tap?.pause();
    },
    resume() {
      stream.resume();
      tap?.resume();
    },
    destroy() {
      if (destroyed) return;
      destroyed = true;
      stream.destroy();
    },
  };
}
