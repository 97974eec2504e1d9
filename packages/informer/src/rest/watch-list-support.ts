// Whether a server can stream its initial lists: asked once for each client, from /version, and remembered.
// Differs: client-go from 0.35 on tries a streaming list and falls back; a server too old to know the parameter would then never end it.
import type { Clock } from '@kube-rx/apimachinery';
import type { RestClient } from './rest-client.ts';

/** What is known of the streaming lists of one resource. */
export interface WatchListSupport {
  /** Without a request: yes, not at this time (clock time), or nobody has asked yet. */
  known(now: number): boolean | undefined;
  /**
   * Asks the server; false when it cannot or does not say. Never rejects. Calls at the same time share one request, which ends with the last
   * of their signals.
   */
  ask(signal: AbortSignal): Promise<boolean>;
  /** A streaming list came to its end: this server can. */
  worked(): void;
  /** A streaming list of this resource failed; not to be tried again before that clock time. */
  failed(untilMs: number): void;
}

/** The streaming list is on by default, and has lost its teething troubles, from this minor version on. */
const SINCE_MINOR = 34;
const ASK_TIMEOUT_MS = 5_000;
// A server that refuses to say its version is not asked again by each of a hundred informers.
const UNANSWERED_MS = 30_000;

class ServerSupport {
  readonly #client: RestClient;
  readonly #clock: Clock;
  readonly #deferred = new Map<string, number>();
  #known: boolean | undefined;
  #unansweredUntil = Number.NEGATIVE_INFINITY;
  #asking: { readonly answer: Promise<boolean>; readonly stop: () => void } | undefined;
  #askers = 0;

  constructor(client: RestClient) {
    this.#client = client;
    this.#clock = client.clock;
  }

  of(resource: string): WatchListSupport {
    return {
      known: (now) => this.#knownOf(resource, now),
      ask: (signal) => this.#ask(signal),
      worked: () => {
        this.#known = true;
        this.#deferred.delete(resource);
      },
      failed: (untilMs) => void this.#deferred.set(resource, untilMs),
    };
  }

  #knownOf(resource: string, now: number): boolean | undefined {
    if (now < (this.#deferred.get(resource) ?? Number.NEGATIVE_INFINITY)) return false;
    if (this.#known === undefined && now < this.#unansweredUntil) return false;
    return this.#known;
  }

  async #ask(signal: AbortSignal): Promise<boolean> {
    if (signal.aborted) return false;
    this.#asking ??= this.#start();
    const asking = this.#asking;
    this.#askers++;
    const leave = (): void => {
      if (--this.#askers > 0) return;
      if (this.#asking === asking) this.#asking = undefined;
      asking.stop();
    };
    signal.addEventListener('abort', leave, { once: true });
    const answer = await asking.answer;
    if (signal.aborted) return answer;
    signal.removeEventListener('abort', leave);
    leave();
    return answer;
  }

  #start(): { readonly answer: Promise<boolean>; readonly stop: () => void } {
    const controller = new AbortController();
    const timer = this.#clock.setTimer(() => controller.abort(), ASK_TIMEOUT_MS, { unref: true });
    const stop = (): void => {
      timer.cancel();
      controller.abort();
    };
    return { stop, answer: this.#readVersion(controller.signal) };
  }

  async #readVersion(signal: AbortSignal): Promise<boolean> {
    try {
      const version = await this.#client.json<unknown>({ path: '/version', maxRetries: 0, signal });
      this.#known ??= streamsLists(version);
    } catch {
      // Whatever it was, the list that follows meets it too and says so.
      if (this.#askers > 0) this.#unansweredUntil = this.#clock.now() + UNANSWERED_MS;
    }
    return this.#known ?? false;
  }
}

const servers = new WeakMap<RestClient, ServerSupport>();

/** Shared by all lists and watches of the client. */
export function watchListSupportOf(client: RestClient, resource: string): WatchListSupport {
  let server = servers.get(client);
  if (server === undefined) {
    server = new ServerSupport(client);
    servers.set(client, server);
  }
  return server.of(resource);
}

/** Reads an answer of `/version`; providers put a plus sign behind the minor version. */
export function streamsLists(version: unknown): boolean {
  const { major, minor } = (version ?? {}) as { major?: unknown; minor?: unknown };
  const [whole, part] = [Number.parseInt(String(major), 10), Number.parseInt(String(minor), 10)];
  return whole > 1 || (whole === 1 && part >= SINCE_MINOR);
}
