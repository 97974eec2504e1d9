// Watches over WebSocket: the only place that knows the `ws` package, which is loaded with the first of them.
// Upstream: golang.org/x/net websocket as apiserver@v0.30.3:pkg/endpoints/handlers/watch.go uses it
import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import type { WebSocket } from 'ws';
import type { HttpResponse, WebSocketStream, WebSocketUpgrade } from '../endpoints/http.ts';
import { PROTOCOL_PREFIX } from './authentication.ts';

const MAX_BUFFERED_BYTES = 1024 * 1024;

/** The request asked for a WebSocket; `head` is what came behind its headers. */
export class NodeUpgrade implements WebSocketUpgrade {
  readonly #request: IncomingMessage;
  readonly #socket: Duplex;
  readonly #head: Buffer;
  readonly #detach: () => void;

  /** `detach` takes the plain response off the socket before the handshake is answered. */
  constructor(request: IncomingMessage, socket: Duplex, head: Buffer, detach: () => void) {
    this.#request = request;
    this.#socket = socket;
    this.#head = head;
    this.#detach = detach;
  }

  async accept(_response: HttpResponse): Promise<WebSocketStream | undefined> {
    const { headers } = this.#request;
    this.#detach();
    // The library behind the real server checks these itself and answers in its own way.
    if (headers['sec-websocket-key'] === undefined) {
      this.#socket.end('HTTP/1.1 400 Bad Request\r\n\r\nmismatch challenge/response');
      return undefined;
    }
    if (headers['sec-websocket-version'] !== '13') {
      this.#socket.end('HTTP/1.1 400 Bad Request\r\nSec-WebSocket-Version: 13\r\n\r\nmissing or bad WebSocket Version');
      return undefined;
    }
    if (headers.origin === undefined || !URL.canParse(headers.origin)) {
      this.#socket.end('HTTP/1.1 403 Forbidden\r\n\r\n');
      return undefined;
    }
    const { WebSocketServer } = await import('ws');
    if (this.#socket.destroyed) return undefined;
    return new Promise((resolve) => {
      const server = new WebSocketServer({
        noServer: true,
        perMessageDeflate: false,
        // One requested name is echoed, of several none is chosen; the one that carries a token does not count.
        handleProtocols: (protocols) => {
          const names = [...protocols].filter((name) => !name.startsWith(PROTOCOL_PREFIX));
          return names.length === 1 ? names[0]! : false;
        },
      });
      this.#socket.once('close', () => resolve(undefined));
      server.handleUpgrade(this.#request, this.#socket, this.#head, (socket) =>
        resolve(new NodeWebSocket(socket, this.#socket)),
      );
    });
  }
}

class NodeWebSocket implements WebSocketStream {
  readonly #socket: WebSocket;
  readonly #raw: Duplex;

  constructor(socket: WebSocket, raw: Duplex) {
    this.#socket = socket;
    this.#raw = raw;
    // What the client says is read and thrown away.
    socket.on('message', () => {});
    socket.on('error', () => {});
  }

  send(bytes: Buffer, binary: boolean): boolean {
    if (this.#socket.readyState !== this.#socket.OPEN) return true;
    this.#socket.send(bytes, { binary, compress: false });
    return this.#socket.bufferedAmount < MAX_BUFFERED_BYTES;
  }

  onDrain(listener: () => void): void {
    this.#raw.on('drain', listener);
  }

  onClose(listener: () => void): void {
    this.#socket.once('close', listener);
  }

  close(): void {
    if (this.#socket.readyState === this.#socket.OPEN) this.#socket.close(1000);
  }
}
