// Reads the chunked body of a watch from its socket, past Node's HTTP parser, which calls back for each chunk: a third of the CPU time of an
// event. The parser still gets the head, and whatever is not plain chunks, the end above all, so that errors, reuse of the connection
// and limits stay Node's. See docs/decisions/0008-body-tap.md.
import type { ClientRequest, IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { BodyTap, type OnBytes, type TapReading } from './body-tap.ts';

const NOTHING = Buffer.alloc(0);
const HEAD_END = Buffer.from('\r\n\r\n');
// Node refuses longer heads itself; here it only ends the search.
const MAX_HEAD_BYTES = 64 * 1024;

/** The taps of answers whose bodies are read past the parser. */
export class BodyTaps {
  readonly #taps = new WeakMap<object, BodyTap>();
  readonly #reading: TapReading;

  constructor(reading: TapReading) {
    this.#reading = reading;
  }

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
        this.#taps.set(response, new BodyTap(socket, parse, rest, this.#reading));
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
