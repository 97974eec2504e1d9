// The seam between the REST client and whatever moves bytes: axios, fetch, a server in the same process, a test.

/** `watch` requests live for minutes and may be given connections of their own. */
export type TransportPurpose = 'call' | 'watch';

export interface TransportRequest {
  readonly method: string;
  /** Absolute URL. */
  readonly url: string;
  readonly headers: Readonly<Record<string, string | readonly string[]>>;
  readonly body?: string | Uint8Array | undefined;
  readonly purpose: TransportPurpose;
  /** Aborting destroys the connection, before and after the headers came. */
  readonly signal?: AbortSignal | undefined;
}

/** Receives a body; exactly one of `end` and `error` comes last, and neither after `destroy`. */
export interface BodySink {
  data(chunk: Uint8Array): void;
  end(): void;
  /** A TransportError where the cause is known. */
  error(error: Error): void;
}

/** A body that nobody consumes or destroys keeps its connection. */
export interface TransportBody {
  /** Starts the flow; to be called once. */
  consume(sink: BodySink): void;
  pause(): void;
  resume(): void;
  destroy(): void;
}

export interface TransportResponse {
  readonly status: number;
  /** Names in lower case; repeated headers are joined with a comma. */
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly body: TransportBody;
}

/** Resolves when the headers are there, whatever the status; redirects are answers like others. Rejects with a TransportError. */
export interface Transport {
  send(request: TransportRequest): Promise<TransportResponse>;
  /** Ends idle connections. */
  close(): void;
}

/** Reads a whole body; more than `maxBytes` destroys it and rejects with the given error. */
export function readBody(body: TransportBody, maxBytes: number, tooLarge: () => Error): Promise<Uint8Array> {
  return new Promise((resolve, reject) => {
    const chunks: Uint8Array[] = [];
    let length = 0;
    body.consume({
      data(chunk) {
        length += chunk.length;
        chunks.push(chunk);
        if (length > maxBytes) {
          body.destroy();
          reject(tooLarge());
        }
      },
      end: () => resolve(concatBytes(chunks, length)),
      error: reject,
    });
  });
}

export function concatBytes(chunks: readonly Uint8Array[], length: number): Uint8Array {
  if (chunks.length === 1) return chunks[0]!;
  const all = new Uint8Array(length);
  let offset = 0;
  for (const chunk of chunks) {
    all.set(chunk, offset);
    offset += chunk.length;
  }
  return all;
}
