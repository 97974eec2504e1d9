// Requests and streams over axios on Node. The only file that imports axios.
// Differs: watches have a pool of their own, so that a hundred of them never starve a write (client-go multiplexes on HTTP/2).
import { Agent as HttpAgent } from 'node:http';
import { Agent as HttpsAgent } from 'node:https';
import type { Readable } from 'node:stream';
import type { AxiosInstance, AxiosProxyConfig } from 'axios';
import { networkErrorCode, toTransportError } from './network-errors.ts';
import { nodeStreamBody } from './node-stream-body.ts';
import type { Transport, TransportPurpose, TransportRequest, TransportResponse } from './transport.ts';

/** PEM texts as the TLS stack takes them. */
export interface TlsMaterial {
  readonly ca?: string | undefined;
  readonly cert?: string | undefined;
  readonly key?: string | undefined;
  /** Name to verify instead of the host of the URL. */
  readonly serverName?: string | undefined;
  /** @defaultValue false */
  readonly insecureSkipTlsVerify?: boolean | undefined;
}

export interface AxiosTransportOptions {
  /**
   * Asked before every request. When another object comes back than last time, new connections use it and all old ones are closed:
   * so a rotated certificate takes effect without a restart.
   */
  readonly tls?: (() => TlsMaterial | Promise<TlsMaterial>) | undefined;
  /** http, https proxy. @defaultValue the environment's HTTP_PROXY, HTTPS_PROXY and NO_PROXY; never for a loopback address */
  readonly proxyUrl?: string | undefined;
  /**
   * Whether answers may come packed with gzip. `auto` asks for it except from a loopback address, where packing and unpacking take
   * longer than the way. @defaultValue `auto`
   */
  readonly compression?: 'auto' | 'gzip' | 'none' | undefined;
  /** `shared` uses one pool for calls and watches. @defaultValue `separate` */
  readonly pools?: 'separate' | 'shared' | undefined;
}

interface Pool {
  readonly http: HttpAgent;
  readonly https: HttpsAgent;
}

const KEEP_ALIVE_MS = 30_000;
// A kept-alive connection may have died unnoticed; each repetition uses up one of them.
const MAX_STALE_CONNECTIONS = 10;

/** Keep-alive connections, no redirects, no time limits: those are the REST client's business. */
export function createAxiosTransport(options: AxiosTransportOptions = {}): Transport {
  const { compression = 'auto' } = options;
  // On its way while the caller goes on, so that the first request need not wait for it; a failure shows there.
  const client = createAxios();
  client.catch(() => {});
  const proxy = options.proxyUrl === undefined ? undefined : proxyConfig(options.proxyUrl);
  let material: TlsMaterial | undefined;
  let pools = new Map<TransportPurpose, Pool>();

  function poolOf(purpose: TransportPurpose): Pool {
    const key = options.pools === 'shared' ? 'call' : purpose;
    let pool = pools.get(key);
    if (pool === undefined) {
      pool = createPool(material ?? {});
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
    const pool = poolOf(request.purpose);
    const packed = compression === 'gzip' || (compression === 'auto' && !isLoopback(request.url));
    const response = await (await client).request<Readable>({
      method: request.method,
      url: request.url,
      headers: { ...request.headers, 'accept-encoding': packed ? 'gzip' : 'identity' } as Record<string, string>,
      data: request.body,
      httpAgent: pool.http,
      httpsAgent: pool.https,
      ...(isLoopback(request.url) ? { proxy: proxy ?? false } : proxy === undefined ? {} : { proxy }),
      ...(request.signal === undefined ? {} : { signal: request.signal }),
    });
    const headers: Record<string, string> = {};
    for (const [name, value] of Object.entries(response.headers)) {
      headers[name.toLowerCase()] = Array.isArray(value) ? value.join(', ') : String(value);
    }
    return { status: response.status, headers, body: nodeStreamBody(response.data, request.url) };
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

function createPool(material: TlsMaterial): Pool {
  const common = { keepAlive: true, keepAliveMsecs: KEEP_ALIVE_MS, maxFreeSockets: 25 };
  return {
    http: new HttpAgent(common),
    https: new HttpsAgent({
      ...common,
      rejectUnauthorized: material.insecureSkipTlsVerify !== true,
      ...(material.ca === undefined ? {} : { ca: material.ca }),
      ...(material.cert === undefined ? {} : { cert: material.cert }),
      ...(material.key === undefined ? {} : { key: material.key }),
      ...(material.serverName === undefined ? {} : { servername: material.serverName }),
    }),
  };
}

/** The server closed an idle connection just as we used it again: nothing was answered, so the GET may go once more. */
function diedOnReuse(error: unknown): boolean {
  const { request } = error as { request?: { reusedSocket?: unknown } | undefined };
  const reusedSocket = request?.reusedSocket;
  const code = networkErrorCode(error);
  return reusedSocket === true && (code === 'RESET' || code === 'EOF');
}

function isLoopback(url: string): boolean {
  const { hostname } = new URL(url);
  return hostname === 'localhost' || hostname === '[::1]' || hostname.startsWith('127.');
}

function proxyConfig(proxyUrl: string): AxiosProxyConfig {
  const url = new URL(proxyUrl);
  return {
    protocol: url.protocol,
    host: url.hostname,
    port: Number(url.port || (url.protocol === 'https:' ? 443 : 80)),
    ...(url.username === ''
      ? {}
      : { auth: { username: decodeURIComponent(url.username), password: decodeURIComponent(url.password) } }),
  };
}
