// A sink that keeps what it gets.
import type { BodySink } from '../../src/rest/transport.ts';

export class RecordingSink implements BodySink {
  text = '';
  ended: 'open' | 'end' | Error = 'open';
  readonly #decoder = new TextDecoder();

  data(chunk: Uint8Array): void {
    this.text += this.#decoder.decode(chunk, { stream: true });
  }

  end(): void {
    this.#close('end');
  }

  error(error: Error): void {
    this.#close(error);
  }

  #close(how: 'end' | Error): void {
    if (this.ended !== 'open') throw new Error('the body ended twice');
    this.ended = how;
  }
}
