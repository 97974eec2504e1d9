// One request on its way through the handlers, and what handlers may use of the server around them.
import type { Clock, Logger } from '@kube-rx/apimachinery';
import type { RequestContext, ResourceCatalog, ResourceInfo, UserInfo } from '../registry/rest.ts';
import type { FieldManagers } from './field-managers.ts';
import type { HttpRequest, HttpResponse } from './http.ts';
import type { ObjectDecoder } from './object-decoder.ts';
import type { RequestInfo } from './request-info.ts';
import type { Shutdown } from './shutdown.ts';
import type { WatchMetrics } from './watch-server.ts';

export interface EndpointsContext {
  readonly catalog: ResourceCatalog;
  readonly clock: Clock;
  readonly random: () => number;
  readonly logger: Logger;
  readonly decoder: ObjectDecoder;
  readonly fieldManagers: FieldManagers;
  /** Gate WatchList. */
  readonly watchListEnabled: boolean;
  /** Lower bound of the length of a watch that names no timeout; the length is drawn between it and twice of it. */
  readonly minRequestTimeoutMs: number;
  /** What an empty resourceVersion of a watch means: the real answer, or a stream of what comes from now on. */
  readonly emptyResourceVersionWatch: 'initial-state' | 'from-now';
  readonly watchMetrics?: ((info: ResourceInfo) => WatchMetrics) | undefined;
  /** Begins when running watches have to end. */
  readonly shutdown: Shutdown;
}

export interface Exchange {
  readonly request: HttpRequest;
  readonly response: HttpResponse;
  readonly info: RequestInfo;
  readonly user: UserInfo;
  readonly ctx: RequestContext;
}

export const MAX_BODY_BYTES: number = 3 * 1024 * 1024;
