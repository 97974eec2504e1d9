// One watch over the in-process transport, its events collected as they come.
import type { FakeApiServer } from '../../src/index.ts';

export interface WireEvent {
  readonly type: string;
  readonly object: {
    readonly kind?: string;
    readonly code?: number;
    readonly message?: string;
    readonly metadata?: {
      readonly name?: string;
      readonly resourceVersion?: string;
      readonly annotations?: Readonly<Record<string, string>>;
    };
  };
}

export class WatchStream {
  readonly status: number;
  readonly events: WireEvent[] = [];
  /** True once the body has ended without an error. */
  ended = false;
  readonly #controller: AbortController;
  readonly #waiting = new Set<() => void>();

  private constructor(status: number, controller: AbortController) {
    this.status = status;
    this.#controller = controller;
  }

  static async open(server: FakeApiServer, path: string): Promise<WatchStream> {
    const controller = new AbortController();
    const response = await server.fetch(path, { signal: controller.signal });
    const stream = new WatchStream(response.status, controller);
    void stream.#read(response.body!);
    return stream;
  }

  /** Resolves when the condition holds; checked after every event and at the end. */
  async until(condition: (stream: WatchStream) => boolean): Promise<this> {
    while (!condition(this)) await new Promise<void>((resolve) => this.#waiting.add(resolve));
    return this;
  }

  atLeast(count: number): Promise<this> {
    return this.until((stream) => stream.events.length >= count);
  }

  /** `ADDED a@5`, `BOOKMARK @9`, `ERROR 410 text`. */
  get lines(): string[] {
    return this.events.map(({ type, object }) =>
      type === 'ERROR'
        ? `ERROR ${object.code} ${object.message}`
        : `${type} ${object.metadata?.name ?? ''}@${object.metadata?.resourceVersion}`,
    );
  }

  close(): void {
    this.#controller.abort();
  }

  async #read(body: ReadableStream<Uint8Array>): Promise<void> {
    const decoder = new TextDecoder();
    let rest = '';
    try {
      for await (const chunk of body as unknown as AsyncIterable<Uint8Array>) {
        const lines = (rest + decoder.decode(chunk, { stream: true })).split('\n');
        rest = lines.pop()!;
        for (const line of lines) this.events.push(JSON.parse(line) as WireEvent);
        this.#wake();
      }
      this.ended = true;
    } catch {
      // Cut by close().
    }
    this.#wake();
  }

  #wake(): void {
    for (const resolve of this.#waiting) resolve();
    this.#waiting.clear();
  }
}
