// Servers for cases: one after the other on the same server as long as neither could notice the other.
import type { RecordedCase } from './recorded-case.ts';
import { type HttpVersion, ServerUnderTest, type Setup } from './server-under-test.ts';

// Every custom resource that a case leaves behind makes the documents of the next cases longer.
const CASES_EACH = 25;
/** Needs that any server meets and that leave nothing changed. */
const HARMLESS = new Set(['ws', 'http2', 'no-namespace-controller', 'admission-policy']);

export class SharedServers implements AsyncDisposable {
  readonly #http: HttpVersion;
  #shared: ServerUnderTest | undefined;
  #played = 0;

  constructor(http: HttpVersion) {
    this.#http = http;
  }

  /** Runs `play` with a server like the one that the case was recorded from. */
  async with<T>(recorded: RecordedCase, play: (server: ServerUnderTest) => Promise<T>): Promise<T> {
    if (!recorded.needs.every((need) => need.startsWith('!') || HARMLESS.has(need))) {
      await using own = await ServerUnderTest.start({ ...setupFor(recorded.needs), http: this.#http });
      return await play(own);
    }
    if (this.#played++ % CASES_EACH === 0) await this.#end();
    this.#shared ??= await ServerUnderTest.start({ http: this.#http });
    try {
      const result = await play(this.#shared);
      await this.#shared.closeStreams();
      return result;
    } catch (error) {
      await this.#end();
      throw error;
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#end();
  }

  async #end(): Promise<void> {
    const ended = this.#shared;
    this.#shared = undefined;
    await ended?.[Symbol.asyncDispose]();
  }
}

function setupFor(needs: readonly string[]): Setup {
  const has = (need: string): boolean => needs.includes(need);
  return {
    options: {
      ...(has('gate:WatchList') && { featureGates: { WatchList: true } }),
      ...(has('watch-cache:off') && { watchCache: false }),
    },
    onDisk: has('restart'),
  };
}
