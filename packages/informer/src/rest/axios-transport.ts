// Requests and streams over axios on Node. The only file that imports axios.
// Differs: watches have a pool of their own, so that a hundred of them never starve a write (client-go multiplexes on HTTP/2).
import {
  type ClientRequest,
  Agent as HttpAgent,
  request as httpRequest,
  type IncomingMessage,
  type RequestOptions,
} from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import type { Socket } from 'node:net';
import type { Readable } from 'node:stream';
import { type Clock, OptionsError, realClock } from '@kube-rx/apimachinery';
import type { AxiosInstance, AxiosProxyConfig } from 'axios';
import { BodyTaps } from './body-taps.ts';
import { DirectReads } from './direct-reads.ts';
import { networkErrorCode, toTransportError } from './network-errors.ts';
import { nodeStreamBody } from './node-stream-body.ts';
import { chooseProxy, hostOf, isLoopback, portOf, proxyCredentials } from './proxy-choice.ts';
import type { DialTarget } from './proxy-dialer.ts';
import { dialThroughProxy } from './proxy-dialer.ts';
import type { TlsMaterial, TlsSource } from './tls-material.ts';
import { nodeTlsOptions } from './tls-material.ts';
import type { Transport, TransportPurpose, TransportRequest, TransportResponse } from './transport.ts';
import { httpsTunnelAgent, httpTunnelAgent } from './tunnel-agent.ts';

export type Compression = 'auto' | 'gzip' | 'none';

export interface AxiosTransportOptions {
  /**
   * Asked before every request. When another object comes back than last time, new connections use it and all old ones are closed:
   * so a rotated certificate takes effect without a restart.
   */
  readonly tls?: TlsSource | undefined;
  /**
   * http, https, socks5 or socks5h proxy; https servers are reached through a tunnel, TLS goes end to end. @defaultValue the environment's
   * HTTP_PROXY, HTTPS_PROXY and NO_PROXY; never for a loopback address
   */
  readonly proxyUrl?: string | undefined;
  /**
   * Whether answers may come packed with gzip. `auto` asks for it except from a loopback address, where packing and unpacking take
   * longer than the way. @defaultValue `auto`
   */
  readonly compression?: Compression | undefined;
  /** `shared` uses one pool for calls and watches. @defaultValue `separate` */
  readonly pools?: 'separate' | 'shared' | undefined;
  /**
   * A busy watch over HTTP/1.1 is read in portions: its connection rests so long at most between two reads, ms. A watch is busy from some
   * hundred events per second on; a quiet one is read at once. 0 never rests. @defaultValue 20
   */
  readonly maxWatchRestMs?: number | undefined;
  /** @defaultValue that of the machine */
  readonly clock?: Clock | undefined;
}

interface Pool {
  readonly http: HttpAgent;
  readonly https: HttpsAgent;
}

const KEEP_ALIVE_MS = 30_000;
const MAX_WATCH_REST_MS = 20;
const LONGEST_REST_MS = 1_000;
// A kept-alive connection may have died unnoticed; each repetition uses up one of them.
const MAX_STALE_CONNECTIONS = 10;

/** Keep-alive connections, no redirects, no time limits: those are the REST client's business. */
export function createAxiosTransport(options: AxiosTransportOptions = {}): Transport {
  const { compression = 'auto', clock = realClock, maxWatchRestMs = MAX_WATCH_REST_MS } = options;
  if (!(maxWatchRestMs >= 0 && maxWatchRestMs <= LONGEST_REST_MS)) {
    throw new OptionsError('maxWatchRestMs', maxWatchRestMs, `a number from 0 to ${LONGEST_REST_MS}`);
  }
  // On its way while the caller goes on, so that the first request need not wait for it; a failure shows there.
  const client = createAxios();
  client.catch(() => {});
  const proxyOf = chooseProxy(options.proxyUrl, process.env);
  const direct = new DirectReads();
  const taps = new BodyTaps({ clock, direct, maxRestMs: maxWatchRestMs });
  const tapped = tappedRequests(taps);
  let material: TlsMaterial | undefined;
  let pools = new Map<string, Pool>();

  function poolOf(purpose: TransportPurpose, proxy: URL | undefined): Pool {
    const key = `${options.pools === 'shared' ? 'call' : purpose} ${proxy?.href ?? ''}`;
    let pool = pools.get(key);
    if (pool === undefined) {
      pool = createPool(
        material ?? {},
        proxy,
        clock,
        options.pools === 'shared' || purpose === 'watch' ? direct : undefined,
      );
      pools.set(key, pool);
    }
    return pool;
  }
  function closePools(): void {
    for (const pool of pools.values()) {
      pool.http.destroy();
      pool.https.destroy();
    }
    pools = new Map();
  }

  async function sendOnce(request: TransportRequest): Promise<TransportResponse> {
    const url = new URL(request.url);
    const proxy = proxyOf(url);
    // Plain requests to a server behind an http proxy are given to the proxy as they are, as it expects them.
    const forwarded = proxy !== undefined && url.protocol === 'http:' && proxy.protocol.startsWith('http');
    const pool = poolOf(request.purpose, forwarded ? undefined : proxy);
    const response = await (await client).request<Readable>({
      method: request.method,
      url: request.url,
      headers: { ...request.headers, 'accept-encoding': acceptedEncoding(compression, url) } as Record<string, string>,
      data: request.body,
      httpAgent: pool.http,
      httpsAgent: pool.https,
      proxy: forwarded ? forwardProxy(proxy) : false,
      ...(request.purpose === 'watch' && request.method === 'GET' ? { transport: tapped } : {}),
      ...(request.signal === undefined ? {} : { signal: request.signal }),
    });
    const headers: Record<string, string> = {};
    for (const [name, value] of Object.entries(response.headers)) {
      headers[name.toLowerCase()] = Array.isArray(value) ? value.join(', ') : String(value);
    }
    return {
      status: response.status,
      headers,
      body: nodeStreamBody(response.data, request.url, taps.of(response.data)),
    };
  }

  return {
    async send(request) {
      const current = await options.tls?.();
      if (current !== material) {
        if (material !== undefined) closePools();
        material = current;
      }
      for (let stale = 0; ; stale++) {
        request.signal?.throwIfAborted();
        try {
          return await sendOnce(request);
        } catch (error) {
          if (request.signal?.aborted) throw request.signal.reason;
          if (stale >= MAX_STALE_CONNECTIONS || request.method !== 'GET' || !diedOnReuse(error)) {
            throw toTransportError(error, `${request.method} ${request.url}`);
          }
        }
      }
    },
    close: closePools,
  };
}

/** Node's own way to make a request, as axios takes it. */
interface NodeRequests {
  request(options: RequestOptions, onResponse: (response: IncomingMessage) => void): ClientRequest;
}

function tappedRequests(taps: BodyTaps): NodeRequests {
  return {
    request(options, onResponse) {
      const send = options.protocol === 'https:' ? httpsRequest : httpRequest;
      const request = send(options, onResponse);
      taps.attach(request);
      return request;
    },
  };
}

/** Loaded with the first transport: a program that only imports this package should start fast. */
async function createAxios(): Promise<AxiosInstance> {
  const { default: axios } = await import('axios');
  return axios.create({
    adapter: 'http',
    responseType: 'stream',
    maxRedirects: 0,
    timeout: 0,
    maxContentLength: -1,
    maxBodyLength: -1,
    decompress: true,
    validateStatus: null,
    // Bodies arrive as text already.
    transformRequest: (data: unknown) => data,
  });
}

function createPool(
  material: TlsMaterial,
  proxy: URL | undefined,
  clock: Clock,
  direct: DirectReads | undefined,
): Pool {
  const common = { keepAlive: true, keepAliveMsecs: KEEP_ALIVE_MS, maxFreeSockets: 25 };
  const tls = { ...common, ...nodeTlsOptions(material) };
  if (proxy === undefined) {
    const pool = { http: new HttpAgent(common), https: new HttpsAgent(tls) };
    if (direct !== undefined) for (const agent of [pool.http, pool.https]) readDirectly(agent, direct);
    return pool;
  }
  const dial = (target: DialTarget): Promise<Socket> => dialThroughProxy(proxy, target, { clock, tls: material });
  return { http: httpTunnelAgent(dial, common), https: httpsTunnelAgent(dial, tls) };
}

function readDirectly(agent: HttpAgent, direct: DirectReads): void {
  const create = agent.createConnection.bind(agent);
  agent.createConnection = (target, created) =>
    direct.connect((onread) => create({ ...target, ...onread }, created) as Socket);
}

export function acceptedEncoding(compression: Compression, url: URL): 'gzip' | 'identity' {
  const packed = compression === 'gzip' || (compression === 'auto' && !isLoopback(hostOf(url)));
  return packed ? 'gzip' : 'identity';
}

/** The server closed an idle connection just as we used it again: nothing was answered, so the GET may go once more. */
function diedOnReuse(error: unknown): boolean {
  const { request } = error as { request?: { reusedSocket?: unknown } | undefined };
  const reusedSocket = request?.reusedSocket;
  const code = networkErrorCode(error);
  return reusedSocket === true && (code === 'RESET' || code === 'EOF');
}

function forwardProxy(proxy: URL): AxiosProxyConfig {
  const auth = proxyCredentials(proxy);
  return {
    protocol: proxy.protocol,
    host: hostOf(proxy),
    port: portOf(proxy),
    ...(auth === undefined ? {} : { auth }),
  };
}
