// Requests to one API server: URLs, headers, credentials, redirects, and the retries client-go does below its reflector.
// Upstream: client-go@v0.30.3:rest/request.go#Request, rest/with_retry.go#withRetry
import type { Clock } from '@kube-rx/apimachinery';
import { realClock, sleep } from '@kube-rx/apimachinery';
import { DecodeError, TransportError } from '../errors.ts';
import type { AuthProvider, Impersonation } from './auth.ts';
import { impersonationHeaders } from './auth.ts';
import { CallDeadline, withProgress } from './call-deadline.ts';
import { childSignal } from './child-signal.ts';
import type { StatusErrorOptions } from './http-status.ts';
import { retryAfterSeconds, statusErrorOf } from './http-status.ts';
import { isProbableEof } from './network-errors.ts';
import type { RateLimiter } from './rate-limiter.ts';
import type { Query } from './request-url.ts';
import { requestUrl } from './request-url.ts';
import type { Transport, TransportPurpose, TransportResponse } from './transport.ts';
import { readBody } from './transport.ts';
import { utf8ToString } from './utf8.ts';
import type { Warning } from './warnings.ts';
import { parseWarnings } from './warnings.ts';

export interface RestClientOptions {
  /** Base URL; a path in it stays in front of every API path. */
  readonly server: string;
  readonly transport: Transport;
  readonly auth?: AuthProvider | undefined;
  readonly impersonate?: Impersonation | undefined;
  /** @defaultValue `kube-rx-informer` */
  readonly userAgent?: string | undefined;
  /** Sent with every request; Authorization here wins over `auth`. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** Tries after the first for answers with Retry-After and lost connections. @defaultValue 10 */
  readonly maxRetries?: number | undefined;
  /**
   * Bound of a call until its body is read, ms, 0 for none. Of a list it bounds the silence, as no time is right for every length; watches
   * have none. @defaultValue 0
   */
  readonly timeoutMs?: number | undefined;
  /** Largest body of a single-object answer. @defaultValue 256 MiB */
  readonly maxBodyBytes?: number | undefined;
  /** Client-side rate limit. The first try of a watch passes it. @defaultValue none */
  readonly rateLimiter?: RateLimiter | undefined;
  /** Called for each `Warning` header. @defaultValue nothing happens */
  readonly onWarning?: ((warning: Warning) => void) | undefined;
  readonly clock?: Clock | undefined;
}

export interface RequestSpec {
  readonly method?: string;
  readonly path: string;
  readonly query?: Query | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly body?: unknown;
  /** Media type of the body. @defaultValue `application/json` */
  readonly contentType?: string | undefined;
  readonly accept?: string | undefined;
  readonly purpose?: TransportPurpose;
  readonly signal?: AbortSignal | undefined;
  readonly maxRetries?: number | undefined;
  /** Told when the headers and when bytes come. */
  readonly onProgress?: (() => void) | undefined;
}

const MAX_REDIRECTS = 10;
const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);
// A lost connection is retried as if the server had sent Retry-After: 1.
const LOST_CONNECTION_RETRY_MS = 1000;

export class RestClient {
  readonly server: string;
  readonly clock: Clock;
  readonly #options: RestClientOptions;
  /** Why the last try of a bounded call has failed, for the error that ends it. */
  readonly #failures = new WeakMap<AbortSignal, string>();

  constructor(options: RestClientOptions) {
    this.server = options.server;
    this.clock = options.clock ?? realClock;
    this.#options = options;
  }

  /**
   * Sends a request and returns the answer, whatever its status, after retries and redirects. Rejects with a TransportError, or with
   * the signal's reason.
   */
  async send(spec: RequestSpec): Promise<TransportResponse> {
    const maxRetries = spec.maxRetries ?? this.#options.maxRetries ?? 10;
    let refreshed = false;
    let failure: string | undefined;
    const failed = (why: string): void => {
      failure = why;
      if (spec.signal !== undefined) this.#failures.set(spec.signal, why);
    };
    for (let attempt = 0; ; attempt++) {
      spec.signal?.throwIfAborted();
      if (spec.purpose !== 'watch' || attempt > 0) await this.#options.rateLimiter?.wait(spec.signal);
      let response: TransportResponse;
      try {
        response = await this.#sendOnce(spec);
      } catch (error) {
        spec.signal?.throwIfAborted();
        if (attempt >= maxRetries || !isRetriableError(spec, error)) throw withPrevious(error, failure);
        failed(error instanceof Error ? error.message : String(error));
        await sleep(this.clock, LOST_CONNECTION_RETRY_MS, { signal: spec.signal });
        continue;
      }
      this.#warnings(response);
      if (response.status === 401 && !refreshed && this.#options.auth?.rejected?.()) {
        refreshed = true;
        await drain(response);
        continue;
      }
      const retryAfter = retryAfterSeconds(response.headers);
      const retriable = retryAfter !== undefined && (response.status === 429 || response.status >= 500);
      if (!retriable || attempt >= maxRetries) return withProgress(response, spec.onProgress);
      failed(`status ${response.status}`);
      await drain(response);
      await sleep(this.clock, retryAfter * 1000, { signal: spec.signal });
    }
  }

  /** A JSON answer; rejects with a StatusError for any status beyond 2xx and for a Status that says failure. */
  async json<T>(spec: RequestSpec): Promise<T> {
    return this.withTimeout(spec, async (bounded) => {
      const response = await this.send(bounded);
      const body = await this.readAll(response);
      if (response.status < 200 || response.status > 206) throw this.failure(bounded, response, body);
      const text = utf8ToString(body);
      let value: unknown;
      try {
        value = JSON.parse(text);
      } catch (cause) {
        throw new DecodeError('BAD_JSON', `answer to ${bounded.method ?? 'GET'} ${bounded.path} is not JSON`, {
          cause,
        });
      }
      const { kind, status } = (value ?? {}) as { kind?: unknown; status?: unknown };
      if (kind === 'Status' && status === 'Failure') throw this.failure(bounded, response, body);
      return value as T;
    });
  }

  /** Text of a 2xx answer, for logs and raw endpoints. */
  async text(spec: RequestSpec): Promise<string> {
    return this.withTimeout(spec, async (bounded) => {
      const response = await this.send({ accept: '*/*', ...bounded });
      const body = await this.readAll(response);
      if (response.status < 200 || response.status > 206) throw this.failure(bounded, response, body);
      return utf8ToString(body);
    });
  }

  /**
   * Runs a call under the client's time limit; the rejection is then a TransportError TIMEOUT. With `ofSilence` the time counts from the
   * last byte: a list that is long and comes in is none that hangs.
   */
  async withTimeout<T>(
    spec: RequestSpec,
    run: (bounded: RequestSpec) => Promise<T>,
    { ofSilence = false }: { readonly ofSilence?: boolean } = {},
  ): Promise<T> {
    const timeoutMs = this.#options.timeoutMs ?? 0;
    if (timeoutMs <= 0) return run(spec);
    const child = childSignal(spec.signal);
    let timedOut: TransportError | undefined;
    const deadline = new CallDeadline(this.clock, timeoutMs, () => {
      timedOut = new TransportError('TIMEOUT', `no answer to ${spec.path} within ${timeoutMs} ms`);
      child.abort(timedOut);
    });
    const onProgress = ofSilence ? (): void => deadline.progress() : undefined;
    try {
      return await run({ ...spec, signal: child.signal, onProgress });
    } catch (error) {
      if (error !== timedOut) throw error;
      throw withPrevious(error, this.#failures.get(child.signal));
    } finally {
      deadline.cancel();
      child.release();
    }
  }

  readAll(response: TransportResponse): Promise<Uint8Array> {
    const limit = this.#options.maxBodyBytes ?? 256 * 1024 * 1024;
    return readBody(response.body, limit, () => new DecodeError('TOO_LARGE', `answer is longer than ${limit} bytes`));
  }

  failure(spec: RequestSpec, response: TransportResponse, body: Uint8Array, options?: StatusErrorOptions): Error {
    const answer = {
      method: spec.method ?? 'GET',
      url: requestUrl(this.server, spec.path, spec.query),
      statusCode: response.status,
      headers: response.headers,
      body,
    };
    return statusErrorOf(answer, options);
  }

  async #sendOnce(spec: RequestSpec): Promise<TransportResponse> {
    let url = requestUrl(this.server, spec.path, spec.query);
    const origin = new URL(url).origin;
    const body =
      spec.body === undefined ? undefined : typeof spec.body === 'string' ? spec.body : JSON.stringify(spec.body);
    const headers = await this.#headers(spec, body !== undefined);
    for (let redirects = 0; ; redirects++) {
      const sameOrigin = new URL(url).origin === origin;
      const response = await this.#options.transport.send({
        method: spec.method ?? 'GET',
        url,
        // Credentials stay with the server they are for.
        headers: sameOrigin ? headers : withoutCredentials(headers),
        body,
        purpose: spec.purpose ?? 'call',
        signal: spec.signal,
      });
      const location = response.headers['location'];
      if (!REDIRECTS.has(response.status) || location === undefined || (spec.method ?? 'GET') !== 'GET')
        return response;
      await drain(response);
      if (redirects >= MAX_REDIRECTS)
        throw new TransportError('TOO_MANY_REDIRECTS', `stopped after ${MAX_REDIRECTS} redirects`);
      url = new URL(location, url).href;
    }
  }

  async #headers(spec: RequestSpec, hasBody: boolean): Promise<Record<string, string | readonly string[]>> {
    const { auth, impersonate, userAgent } = this.#options;
    return {
      accept: spec.accept ?? 'application/json',
      'user-agent': userAgent ?? 'kube-rx-informer',
      ...(hasBody ? { 'content-type': spec.contentType ?? 'application/json' } : {}),
      ...(impersonate === undefined ? {} : impersonationHeaders(impersonate)),
      ...(auth === undefined ? {} : await auth.headers()),
      ...lowerCaseKeys(this.#options.headers),
      ...lowerCaseKeys(spec.headers),
    };
  }

  #warnings(response: TransportResponse): void {
    const { onWarning } = this.#options;
    const header = response.headers['warning'];
    if (onWarning === undefined || header === undefined) return;
    for (const warning of parseWarnings(header)) onWarning(warning);
  }
}

/** What ends a call may be of less use than why it was tried again. */
function withPrevious(error: unknown, failure: string | undefined): unknown {
  if (failure === undefined || !(error instanceof TransportError) || error.message === failure) return error;
  return new TransportError(error.code, `${error.message} - error from a previous attempt: ${failure}`, {
    cause: error,
  });
}

function isRetriableError(spec: RequestSpec, error: unknown): boolean {
  if ((spec.method ?? 'GET') !== 'GET') return false;
  if (isProbableEof(error)) return true;
  return spec.purpose === 'watch' && error instanceof TransportError && error.code === 'TIMEOUT';
}

/** Reads a little so that the connection can be used again; more than that is not worth it. */
async function drain(response: TransportResponse): Promise<void> {
  try {
    await readBody(response.body, 2048, () => new DecodeError('TOO_LARGE', 'not worth reading'));
  } catch {
    response.body.destroy();
  }
}

function lowerCaseKeys(headers: Readonly<Record<string, string>> | undefined): Record<string, string> {
  return Object.fromEntries(Object.entries(headers ?? {}).map(([name, value]) => [name.toLowerCase(), value]));
}

function withoutCredentials(
  headers: Readonly<Record<string, string | readonly string[]>>,
): Record<string, string | readonly string[]> {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => name !== 'authorization' && name !== 'cookie'));
}
