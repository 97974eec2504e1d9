// A body that gives its bytes as fast as they are taken, as a socket on the same machine does.
import type { BodySink, TransportBody } from '../../src/rest/transport.ts';

export abstract class FlowingBody implements TransportBody {
  #paused = false;
  #sink: BodySink | undefined;

  /** Where the bytes go now; undefined while nobody takes any. */
  protected get sink(): BodySink | undefined {
    return this.#paused ? undefined : this.#sink;
  }
  /** Gives what one turn of the event loop has to give. */
  protected abstract turn(): void;

  protected later(): void {
    setImmediate(() => this.turn());
  }
  consume(sink: BodySink): void {
    this.#sink = sink;
    this.later();
  }
  pause(): void {
    this.#paused = true;
  }
  resume(): void {
    if (!this.#paused) return;
    this.#paused = false;
    this.later();
  }
  destroy(): void {
    this.#sink = undefined;
  }
}
