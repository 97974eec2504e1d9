// One chunked body, read from its socket past Node's HTTP parser and, where the socket allows it, past its stream. A busy socket rests for
// some milliseconds after each turn that read from it; see ReadPacer.
import type { Socket } from 'node:net';
import type { Clock, ClockTimer } from '@kube-rx/apimachinery';
import { ChunkDecoder } from './chunk-decoder.ts';
import type { DirectReads } from './direct-reads.ts';
import { ReadPacer } from './read-pacer.ts';
import { yieldToEventLoop } from './yield.ts';

export type OnBytes = (bytes: Buffer) => void;

export interface TapReading {
  readonly clock: Clock;
  readonly direct: DirectReads;
  /** Longest rest of a busy connection, ms; 0 for none. */
  readonly maxRestMs: number;
}

/** Its end and its errors are told by the answer itself, as ever. */
export class BodyTap {
  readonly #socket: Socket;
  readonly #parse: OnBytes;
  readonly #reading: TapReading;
  readonly #decoder: ChunkDecoder;
  readonly #pacer: ReadPacer;
  readonly #read: OnBytes = (bytes) => this.#take(bytes);
  readonly #closed = (): void => this.#leave();
  #receive: OnBytes | undefined;
  #paused = false;
  #active = true;
  /** Read from in this turn of the event loop, and busy. */
  #turn = false;
  #rest: ClockTimer | undefined;

  constructor(socket: Socket, parse: OnBytes, rest: Buffer, reading: TapReading) {
    this.#socket = socket;
    this.#parse = parse;
    this.#reading = reading;
    this.#decoder = new ChunkDecoder((payload) => this.#receive?.(payload));
    this.#pacer = new ReadPacer(reading.maxRestMs);
    socket.off('data', parse).on('data', this.#read);
    reading.direct.open(socket, (bytes) => this.#direct(bytes));
    socket.once('close', this.#closed);
    this.#giveBack(rest);
  }

  /** Starts the flow: what the parser does not see goes to `receive`, in pieces that are the receiver's to keep. */
  start(receive: OnBytes): void {
    this.#receive = receive;
    this.#flow();
  }

  pause(): void {
    this.#paused = true;
    if (this.#active) this.#socket.pause();
  }

  resume(): void {
    this.#paused = false;
    this.#flow();
  }

  get #wanted(): boolean {
    return this.#receive !== undefined && !this.#paused;
  }

  #flow(): void {
    if (this.#active && this.#wanted && this.#rest === undefined) this.#socket.resume();
  }

  /** To the socket, which tells of the end of the connection only when all before it was read. */
  #giveBack(bytes: Buffer): void {
    this.#socket.pause();
    if (bytes.length > 0) this.#socket.unshift(bytes);
  }

  /** One read. What the stream holds already comes first. */
  #direct(bytes: Buffer): boolean {
    if (!this.#wanted || this.#socket.readableLength > 0) return false;
    const { length } = bytes;
    this.#take(bytes);
    if (this.#active && this.#pacer.read(length, this.#reading.clock.now()) && !this.#turn) {
      // Not at once: TLS reads 16 KiB at a time and tells of each record, and what has come should leave in one go.
      this.#turn = true;
      void yieldToEventLoop().then(() => this.#turnEnded());
    }
    return true;
  }

  #turnEnded(): void {
    this.#turn = false;
    if (!this.#active || this.#rest !== undefined) return;
    this.#socket.pause();
    this.#rest = this.#reading.clock.setTimer(() => this.#rested(), this.#pacer.restMs);
  }

  #rested(): void {
    this.#rest = undefined;
    this.#pacer.rested(this.#reading.clock.now());
    this.#flow();
  }

  #take(bytes: Buffer): void {
    if (!this.#wanted) {
      // Node itself may resume the socket, for the answer's sake.
      this.#giveBack(bytes);
      return;
    }
    const rest = this.#decoder.push(bytes);
    if (rest === undefined || this.#socket.destroyed) return;
    this.#leave();
    this.#socket.off('data', this.#read).on('data', this.#parse).resume();
    this.#parse.call(this.#socket, rest);
  }

  #leave(): void {
    this.#active = false;
    this.#reading.direct.close(this.#socket);
    this.#socket.off('close', this.#closed);
    this.#rest?.cancel();
    this.#rest = undefined;
  }
}
