// Reads of a socket that go past Node's stream: no buffer, no queue and no promise turn for each. What nobody asks for directly goes into
// the stream as ever. It is Node's `onread`, with which a pause also stops the reading at once; without it a paused stream reads on until
// its own buffer is full.
import type { OnReadOpts, Socket } from 'node:net';

/** Gets bytes of its own; false gives them to the stream. */
export type DirectReceiver = (bytes: Buffer) => boolean;

const READ_BYTES = 64 * 1024;

/** All sockets read into one buffer: each read is dealt with before the next one. */
export class DirectReads {
  readonly #receivers = new WeakMap<Socket, DirectReceiver>();
  readonly #sockets = new WeakSet<Socket>();
  readonly #buffer: Buffer = Buffer.allocUnsafeSlow(READ_BYTES);

  /** Makes a connection with the options that lead its reads here. */
  connect<S extends Socket>(make: (options: { readonly onread: OnReadOpts }) => S): S {
    const read = (length: number): boolean => {
      const bytes = Buffer.allocUnsafe(length);
      this.#buffer.copy(bytes, 0, 0, length);
      return this.#receivers.get(socket)?.(bytes) === true || socket.push(bytes);
    };
    const socket = make({ onread: { buffer: this.#buffer, callback: read } });
    this.#sockets.add(socket);
    return socket;
  }

  /** From now on `receive` gets each read first. Without effect on a socket that was not made here. */
  open(socket: Socket, receive: DirectReceiver): void {
    if (this.#sockets.has(socket)) this.#receivers.set(socket, receive);
  }

  close(socket: Socket): void {
    this.#receivers.delete(socket);
  }
}
