// Connections through a proxy: CONNECT for http and https proxies, SOCKS5 by the package socks. The only file that imports it.
// Upstream: go1.22:net/http/transport.go#dialConn
import { request as httpRequest } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { connect, type Socket } from 'node:net';
import type { Clock } from '@kube-rx/apimachinery';
import { TransportError } from '../errors.ts';
import { toTransportError } from './network-errors.ts';
import { hostOf, portOf, proxyCredentials } from './proxy-choice.ts';
import type { TlsMaterial } from './tls-material.ts';
import { nodeTlsOptions } from './tls-material.ts';

export interface DialTarget {
  /** A name is resolved by the proxy. */
  readonly host: string;
  readonly port: number;
}

export interface DialOptions {
  readonly clock: Clock;
  /** Authority and verification of an https proxy; the client's certificate is for the server alone. */
  readonly tls?: TlsMaterial | undefined;
}

/** As long as client-go waits for a connection. */
export const DIAL_TIMEOUT_MS = 30_000;

/** A connection to the target through the proxy, bytes untouched. Rejects with a TransportError. */
export async function dialThroughProxy(proxy: URL, target: DialTarget, options: DialOptions): Promise<Socket> {
  const what = `${target.host}:${target.port} through proxy ${proxy.protocol}//${proxy.host}`;
  const abort = new AbortController();
  const timer = options.clock.setTimer(() => {
    abort.abort(new TransportError('TIMEOUT', `no connection to ${what} within ${DIAL_TIMEOUT_MS} ms`));
  }, DIAL_TIMEOUT_MS);
  try {
    const dial = proxy.protocol.startsWith('socks') ? dialSocks : dialConnect;
    return await dial(proxy, target, what, { ...options, signal: abort.signal });
  } catch (error) {
    throw abort.signal.aborted ? abort.signal.reason : toTransportError(error, what);
  } finally {
    timer.cancel();
  }
}

interface SignalledDial extends DialOptions {
  readonly signal: AbortSignal;
}

function dialConnect(proxy: URL, target: DialTarget, what: string, options: SignalledDial): Promise<Socket> {
  const authority = `${target.host.includes(':') ? `[${target.host}]` : target.host}:${target.port}`;
  const { ca, insecureSkipTlsVerify } = options.tls ?? {};
  const request = (proxy.protocol === 'https:' ? httpsRequest : httpRequest)({
    method: 'CONNECT',
    host: hostOf(proxy),
    port: portOf(proxy),
    path: authority,
    headers: { host: authority, ...proxyAuthorization(proxy) },
    agent: false,
    signal: options.signal,
    ...(proxy.protocol === 'https:' ? nodeTlsOptions({ ca, insecureSkipTlsVerify }) : {}),
  });
  return new Promise((resolve, reject) => {
    request.once('error', reject);
    request.once('connect', (response, socket, head) => {
      const { statusCode = 0, statusMessage = '' } = response;
      if (statusCode < 200 || statusCode > 299) {
        socket.destroy();
        reject(new TransportError('PROXY', `${what}: the proxy answered ${statusCode} ${statusMessage}`.trim()));
        return;
      }
      if (head.length > 0) socket.unshift(head);
      resolve(socket as Socket);
    });
    request.end();
  });
}

function proxyAuthorization(proxy: URL): Record<string, string> {
  const credentials = proxyCredentials(proxy);
  if (credentials === undefined) return {};
  const { username, password } = credentials;
  return { 'proxy-authorization': `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}` };
}

async function dialSocks(proxy: URL, target: DialTarget, what: string, options: SignalledDial): Promise<Socket> {
  // Loaded with the first such connection: most programs never make one.
  const { SocksClient } = await import('socks');
  // Connected by us, so that a proxy that is not there is told from one that refuses.
  const credentials = proxyCredentials(proxy);
  const login = credentials === undefined ? {} : { userId: credentials.username, password: credentials.password };
  const socket = await connected(hostOf(proxy), portOf(proxy), options.signal);
  const stop = (): void => void socket.destroy();
  options.signal.addEventListener('abort', stop, { once: true });
  try {
    await SocksClient.createConnection({
      proxy: { host: hostOf(proxy), port: portOf(proxy), type: 5, ...login },
      command: 'connect',
      destination: target,
      existing_socket: socket,
      timeout: DIAL_TIMEOUT_MS,
    });
    return socket;
  } catch (cause) {
    socket.destroy();
    throw new TransportError('PROXY', `${what}: ${(cause as Error).message}`, { cause });
  } finally {
    options.signal.removeEventListener('abort', stop);
  }
}

function connected(host: string, port: number, signal: AbortSignal): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host, port, signal });
    socket.once('error', reject);
    socket.once('connect', () => {
      socket.off('error', reject);
      resolve(socket);
    });
  });
}
