// The filters in front of the API, in upstream's order: audit id, deadline, who, as whom, may they; then routing.
// Upstream: apiserver@v0.30.3:pkg/server/config.go#DefaultBuildHandlerChain
import { randomUUID } from 'node:crypto';
import { type Clock, goQuote, type Logger } from '@kube-rx/apimachinery';
import type { EndpointsContext, Exchange } from '../endpoints/exchange.ts';
import type { HttpRequest, HttpResponse } from '../endpoints/http.ts';
import { route } from '../endpoints/installer.ts';
import { isLongRunning, newRequestInfo, type RequestInfo } from '../endpoints/request-info.ts';
import { writeError, writeText } from '../endpoints/response-writers.ts';
import { isRouteNotFound, notFoundRoute as routeNotFound } from '../endpoints/router-errors.ts';
import type { UserInfo } from '../registry/rest.ts';
import type { Authenticator } from './authentication.ts';
import { type Authorizer, attributesOf, forbidden } from './authorization.ts';
import { requestTimeoutMs } from './deadline.ts';
import { CUSTOM_NOT_FOUND, type Discovery } from './discovery.ts';
import { ImpersonationError, impersonate } from './impersonation.ts';
import type { PathRegistry } from './path-registry.ts';
import type { RequestMetrics } from './request-metrics.ts';
import { WarningHeaders } from './warning-headers.ts';

export interface HandlerChainOptions {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly authenticator: Authenticator;
  readonly authorizer: Authorizer;
  readonly paths: PathRegistry;
  readonly discovery: Discovery;
  readonly endpoints: EndpointsContext;
  /** Whether routing below a group answers for it; of other groups nobody has heard. */
  readonly servesGroup: (group: string) => 'built-in' | 'custom' | undefined;
  /** `--request-timeout`. */
  readonly requestTimeoutMs: number;
  /** `--goaway-chance`. */
  readonly goawayChance: number;
  readonly metrics: RequestMetrics;
}

const CONTROL_PREFIX = '/_fake/';

const TIMEOUT_BODY = Buffer.from(
  '{"metadata":{},"status":"Failure","message":"Timeout: request did not complete within the allotted timeout","reason":"Timeout","details":{},"code":504}\n',
);

export class HandlerChain {
  readonly #options: HandlerChainOptions;
  #running = 0;

  constructor(options: HandlerChainOptions) {
    this.#options = options;
  }

  get running(): number {
    return this.#running;
  }

  /** Never throws and never rejects: every failure is an answer. */
  readonly handle = (request: HttpRequest, response: HttpResponse): void => {
    this.#running += 1;
    const info = newRequestInfo(request.method, request.path, request.query);
    const record = this.#options.metrics.begin(info, request);
    this.#serve(request, response, info)
      .catch((error: unknown) => this.#fail(request, response, error))
      .catch((error: unknown) => {
        this.#options.logger.error('unable to answer', { path: request.path, error });
        response.abort();
      })
      .finally(() => {
        this.#running -= 1;
        record.done(response);
      });
  };

  async #serve(request: HttpRequest, response: HttpResponse, info: RequestInfo): Promise<void> {
    const options = this.#options;
    response.setHeader('audit-id', request.header('audit-id') ?? randomUUID());
    if (info.failure !== undefined) {
      return writeInternalError(request, response, `failed to create RequestInfo: ${info.failure}, ${request.rawUrl}`);
    }
    response.setHeader('cache-control', 'no-cache, private');
    if (
      options.goawayChance > 0 &&
      request.httpVersion === '2.0' &&
      options.endpoints.random() < options.goawayChance
    ) {
      response.setHeader('connection', 'close');
    }
    // A control that moves the clock must not run into a deadline on that clock.
    const unbounded = isLongRunning(info) || request.path.startsWith(CONTROL_PREFIX);
    const timer = unbounded ? undefined : this.#startDeadline(request, response);
    try {
      const requestor = await options.authenticator.authenticate(request);
      const user = await impersonate(request, requestor, options.authorizer);
      const attributes = attributesOf(user, info);
      const decision = await options.authorizer.authorize(attributes);
      if (!decision.allowed) {
        response.setHeader('x-content-type-options', 'nosniff');
        throw forbidden(attributes, decision.reason);
      }
      await this.#dispatch(request, response, info, user);
    } finally {
      timer?.cancel();
    }
  }

  /** The handler goes on, but nobody hears it any more. */
  #startDeadline(request: HttpRequest, response: HttpResponse): { cancel(): void } {
    const limitMs = requestTimeoutMs(request.query, this.#options.requestTimeoutMs);
    const expire = (): void => {
      if (response.headersSent) response.abort();
      else {
        response.setHeader('content-type', 'text/plain; charset=utf-8');
        void response.send(504, [TIMEOUT_BODY]);
      }
      request.cancel(new DOMException('request timed out', 'TimeoutError'));
    };
    return this.#options.clock.setTimer(expire, limitMs, { unref: true });
  }

  async #dispatch(request: HttpRequest, response: HttpResponse, info: RequestInfo, user: UserInfo): Promise<void> {
    const handler = this.#options.paths.find(request.path);
    if (handler !== undefined) return handler(request, response);
    if (this.#options.discovery.handles(request.path)) return this.#options.discovery.serve(request, response);
    // The group without a name is not to be found below /apis.
    const named = info.apiGroup === '' ? undefined : this.#options.servesGroup(info.apiGroup);
    const group = info.apiPrefix === 'api' ? 'built-in' : named;
    if (!info.isResourceRequest || group === undefined) {
      // Below /api and below a built-in group the router answers, elsewhere the end of the chain.
      const inGroup = info.apiPrefix !== '' && group === 'built-in';
      if (inGroup || request.path === '/api' || request.path.startsWith('/api/')) throw routeNotFound();
      return writeText(response, 404, CUSTOM_NOT_FOUND);
    }
    const warnings = new WarningHeaders(response);
    const exchange: Exchange = {
      request,
      response,
      info,
      user,
      ctx: { signal: request.signal, user, warn: (text) => warnings.add(text) },
    };
    try {
      await route(this.#options.endpoints, exchange);
    } catch (error) {
      // Custom resources are no routes: what they do not serve falls through to the end of the chain.
      if (group === 'custom' && isRouteNotFound(error)) return writeText(response, 404, CUSTOM_NOT_FOUND);
      throw error;
    }
  }

  #fail(request: HttpRequest, response: HttpResponse, error: unknown): Promise<void> | void {
    if (response.headersSent) return response.abort();
    // Nobody is there to read an answer.
    if (request.signal.aborted) return response.abort();
    if (error instanceof ImpersonationError) return writeInternalError(request, response, error.message);
    if (!(error instanceof Error && 'status' in error)) {
      this.#options.logger.error('unexpected error in a handler', { path: request.path, error });
    }
    return writeError(request, response, error);
  }
}

const HTML_ESCAPES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;' };

/** Upstream: apiserver@v0.30.3:pkg/endpoints/handlers/responsewriters/errors.go#InternalError */
function writeInternalError(request: HttpRequest, response: HttpResponse, why: string): Promise<void> {
  const text = `Internal Server Error: ${goQuote(request.rawUrl)}: ${why}`;
  return writeText(response, 500, `${text.replace(/[&<>]/g, (sign) => HTML_ESCAPES[sign]!)}\n`);
}
