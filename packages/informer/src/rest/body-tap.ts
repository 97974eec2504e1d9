// Reads the chunked body of a watch from its socket, past Node's HTTP parser, which calls back for each chunk: a third of the CPU time of an
// event. The parser still gets the head, and whatever is not plain chunks, the end above all, so that errors, reuse of the connection
// and limits stay Node's. See docs/decisions/0008-body-tap.md.
import type { ClientRequest, IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { ChunkDecoder } from './chunk-decoder.ts';

type OnBytes = (bytes: Buffer) => void;

const NOTHING = Buffer.alloc(0);
const HEAD_END = Buffer.from('\r\n\r\n');
// Node refuses longer heads itself; here it only ends the search.
const MAX_HEAD_BYTES = 64 * 1024;

/** The taps of answers whose bodies are read past the parser. */
export class BodyTaps {
  readonly #taps = new WeakMap<object, BodyTap>();

  /** The tap of an answer, once its head is there; undefined when its body comes the usual way. */
  of(response: object): BodyTap | undefined {
    return this.#taps.get(response);
  }

  /** To be called right after the request was made. */
  attach(request: ClientRequest): void {
    let response: IncomingMessage | undefined;
    let plain = false;
    // Ahead of axios, which takes away the header that says the body is packed.
    request.prependOnceListener('response', (answer) => {
      response = answer;
      plain = isPlainStream(answer);
    });
    request.once('socket', (socket) => {
      const [parse, ...others] = socket.listeners('data') as OnBytes[];
      // A Node that reads its sockets in another way reads these bodies too.
      if (parse === undefined || others.length > 0) return;
      readHeads(socket, parse, (rest) => {
        if (response === undefined) return 'again';
        if (!plain || !socket.listeners('data').includes(parse)) return 'parse';
        this.#taps.set(response, new BodyTap(socket, parse, rest));
        return 'taken';
      });
    });
  }
}

function isPlainStream({ statusCode, headers }: IncomingMessage): boolean {
  const coding = headers['transfer-encoding']?.toLowerCase();
  return statusCode === 200 && coding === 'chunked' && headers['content-encoding'] === undefined;
}

/** Gives the parser one head at a time, so that it stands at the start of the body when `afterHead` is asked what to do with the rest. */
function readHeads(socket: Socket, parse: OnBytes, afterHead: (rest: Buffer) => 'again' | 'parse' | 'taken'): void {
  let tail = NOTHING;
  let length = 0;
  const leave = (): void => void socket.off('data', read).on('data', parse);
  const read = (bytes: Buffer): void => {
    let unread = bytes;
    while (unread.length > 0) unread = readHead(unread);
  };
  /** What is left for the next head. */
  const readHead = (bytes: Buffer): Buffer => {
    const seen = tail.length === 0 ? bytes : Buffer.concat([tail, bytes]);
    const at = seen.indexOf(HEAD_END);
    if (at < 0) {
      tail = Buffer.from(seen.subarray(Math.max(0, seen.length - HEAD_END.length + 1)));
      length += bytes.length;
      if (length > MAX_HEAD_BYTES) leave();
      parse.call(socket, bytes);
      return NOTHING;
    }
    const end = at + HEAD_END.length - (seen.length - bytes.length);
    const rest = bytes.subarray(end);
    // The parser takes its listener off the socket when an answer is complete, so it must be there.
    leave();
    parse.call(socket, bytes.subarray(0, end));
    const then = afterHead(rest);
    if (then === 'taken' || socket.destroyed) return NOTHING;
    if (then === 'again') {
      // Only a provisional answer (100, 103) so far.
      tail = NOTHING;
      length = 0;
      socket.off('data', parse).on('data', read);
      return rest;
    }
    if (rest.length > 0) {
      if (socket.listeners('data').includes(parse)) parse.call(socket, rest);
      // Bytes behind an answer without a body were not asked for.
      else socket.destroy();
    }
    return NOTHING;
  };
  socket.off('data', parse).on('data', read);
}

/** One body. Its end and its errors are told by the answer itself, as ever. */
export class BodyTap {
  readonly #socket: Socket;
  readonly #parse: OnBytes;
  readonly #decoder: ChunkDecoder;
  readonly #read: OnBytes = (bytes) => this.#take(bytes);
  #receive: OnBytes | undefined;
  #paused = false;
  #active = true;

  constructor(socket: Socket, parse: OnBytes, rest: Buffer) {
    this.#socket = socket;
    this.#parse = parse;
    this.#decoder = new ChunkDecoder((payload) => this.#receive?.(payload));
    socket.off('data', parse).on('data', this.#read);
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
    if (this.#active && this.#wanted) this.#socket.resume();
  }

  /** To the socket, which tells of the end of the connection only when all before it was read. */
  #giveBack(bytes: Buffer): void {
    this.#socket.pause();
    if (bytes.length > 0) this.#socket.unshift(bytes);
  }

  #take(bytes: Buffer): void {
    if (!this.#wanted) {
      // Node itself may resume the socket, for the answer's sake.
      this.#giveBack(bytes);
      return;
    }
    const rest = this.#decoder.push(bytes);
    if (rest === undefined || this.#socket.destroyed) return;
    this.#active = false;
    this.#socket.off('data', this.#read).on('data', this.#parse).resume();
    this.#parse.call(this.#socket, rest);
  }
}
