// The seam between handlers and transports: HTTP/1.1, HTTP/2 and in-process requests look the same above it.
import type { Buffer } from 'node:buffer';
import type { Query } from './query.ts';

/** What a client certificate says. */
export interface PeerIdentity {
  /** False when no trusted authority signed it, or it has expired. */
  readonly verified: boolean;
  readonly commonName: string;
  readonly organizations: readonly string[];
}

export interface HttpRequest {
  readonly method: string;
  /** Percent-decoded, as Go's URL.Path: an encoded slash separates segments. */
  readonly path: string;
  /** As it came, with the query; only for messages and redirects. */
  readonly rawUrl: string;
  readonly query: Query;
  readonly httpVersion: '1.0' | '1.1' | '2.0';
  readonly remoteAddress: string;
  readonly peer: PeerIdentity | undefined;
  /** Aborts when the client goes away, the server closes or the request's time is over. */
  readonly signal: AbortSignal;
  /** Aborts the signal. */
  cancel(reason: unknown): void;
  /** Name in lower case; repeated headers are joined by a comma. */
  header(name: string): string | undefined;
  /** All values of a repeated header. */
  headerValues(name: string): readonly string[];
  headerNames(): readonly string[];
  /** The whole body; rejects with a {@link BodyTooLargeError} past the limit. */
  readBody(limitBytes: number): Promise<Buffer>;
  /** Present when the client asked for a WebSocket. */
  readonly upgrade: WebSocketUpgrade | undefined;
}

/** One frame of a watch, encoded once and shared by every watcher of its event. */
export interface WireFrame {
  readonly bytes: Buffer;
  /** The same bytes with the chunk header and trailer of HTTP/1.1 around them. */
  readonly chunk: Buffer;
}

export interface BodyStream {
  /** False when the client does not keep up: stop until `onDrain`. */
  writeFrame(frame: WireFrame): boolean;
  /** Called each time there is room again. One listener. */
  onDrain(listener: () => void): void;
  /** Ends the body cleanly. Idempotent. */
  end(): void;
}

export interface HttpResponse {
  readonly headersSent: boolean;
  /** What was sent, 0 before. */
  readonly status: number;
  setHeader(name: string, value: string): void;
  addHeader(name: string, value: string): void;
  getHeader(name: string): string | undefined;
  /** The whole answer. Small ones carry a length, larger ones are chunked, as Go's server does it. */
  send(status: number, body: readonly Buffer[]): Promise<void>;
  /** Sends status and headers at once; the body follows. */
  startStream(status: number): BodyStream;
  /** Cuts the connection (HTTP/1.1) or the stream (HTTP/2). */
  abort(): void;
}

export interface WebSocketUpgrade {
  /** Answers 101 and hands out the open socket; undefined when the handshake was refused (and answered). */
  accept(response: HttpResponse): Promise<WebSocketStream | undefined>;
}

export interface WebSocketStream {
  /** One message; false when the client does not keep up. */
  send(bytes: Buffer, binary: boolean): boolean;
  onDrain(listener: () => void): void;
  onClose(listener: () => void): void;
  /** Close frame 1000, then the connection. */
  close(): void;
}

export class BodyTooLargeError extends Error {
  override readonly name = 'BodyTooLargeError';
  readonly code = 'BODY_TOO_LARGE';
}
