// A new HTTP/2 session: TCP, perhaps through a proxy, TLS with a choice of protocol, and the server's settings.
import { type ClientHttp2Session, connect as connectHttp2 } from 'node:http2';
import { isIP, type Socket, connect as tcpConnect } from 'node:net';
import { type TLSSocket, connect as tlsConnect } from 'node:tls';
import type { Clock } from '@kube-rx/apimachinery';
import { TransportError } from '../errors.ts';
import { toTransportError } from './network-errors.ts';
import { hostOf, portOf } from './proxy-choice.ts';
import type { DialTarget } from './proxy-dialer.ts';
import { DIAL_TIMEOUT_MS, dialThroughProxy } from './proxy-dialer.ts';
import type { TlsMaterial } from './tls-material.ts';
import { nodeTlsOptions } from './tls-material.ts';

export interface OpenSessionOptions {
  readonly clock: Clock;
  readonly material: TlsMaterial;
  readonly proxy: URL | undefined;
}

/** What one stream may have under way while nobody reads it. */
const STREAM_WINDOW_BYTES = 1024 * 1024;
/** What all streams together may; those that are not read must not hold up the others. */
const CONNECTION_WINDOW_BYTES = 64 * 1024 * 1024;
const SESSION_MEMORY_MB = 256;
const TCP_KEEP_ALIVE_MS = 30_000;

/**
 * Resolves when the server's settings are known; undefined when it chose HTTP/1.1. Rejects with a TransportError, within the time that
 * client-go gives a connection.
 */
export async function openSession(url: URL, options: OpenSessionOptions): Promise<ClientHttp2Session | undefined> {
  const target = { host: hostOf(url), port: portOf(url) };
  const what = `connection to ${url.origin}`;
  const opened: { destroy(): unknown }[] = [];
  let late: Error | undefined;
  const timer = options.clock.setTimer(() => {
    late = new TransportError('TIMEOUT', `${what}: not there within ${DIAL_TIMEOUT_MS} ms`);
    for (const each of opened) each.destroy();
  }, DIAL_TIMEOUT_MS);
  try {
    const socket = await dial(url, target, options, opened);
    if (url.protocol === 'https:' && (socket as TLSSocket).alpnProtocol !== 'h2') {
      socket.destroy();
      return undefined;
    }
    const session = connectHttp2(url.origin, {
      createConnection: () => socket,
      settings: { enablePush: false, initialWindowSize: STREAM_WINDOW_BYTES },
      maxSessionMemory: SESSION_MEMORY_MB,
    });
    opened.push(session);
    await settingsOf(session);
    session.setLocalWindowSize(CONNECTION_WINDOW_BYTES);
    return session;
  } catch (error) {
    for (const each of opened) each.destroy();
    throw late ?? toTransportError(error, what);
  } finally {
    timer.cancel();
  }
}

async function dial(
  url: URL,
  target: DialTarget,
  options: OpenSessionOptions,
  opened: { destroy(): unknown }[],
): Promise<Socket> {
  const { clock, material, proxy } = options;
  let below: Socket | undefined;
  if (proxy !== undefined) {
    below = await dialThroughProxy(proxy, target, { clock, tls: material });
    opened.push(below);
  }
  if (url.protocol === 'http:' && below !== undefined) return below;
  const socket =
    url.protocol === 'http:'
      ? tcpConnect(target)
      : tlsConnect({
          ...target,
          ALPNProtocols: ['h2', 'http/1.1'],
          // An address is no server name, but the certificate is still checked against it.
          ...(isIP(target.host) === 0 ? { servername: target.host } : {}),
          ...nodeTlsOptions(material),
          ...(below === undefined ? {} : { socket: below }),
        });
  opened.push(socket);
  socket.setNoDelay(true).setKeepAlive(true, TCP_KEEP_ALIVE_MS);
  await new Promise<void>((resolve, reject) => {
    socket.once(url.protocol === 'http:' ? 'connect' : 'secureConnect', resolve);
    socket.once('error', reject);
    socket.once('close', () => reject(new TransportError('EOF', 'closed during the handshake')));
  });
  return socket;
}

function settingsOf(session: ClientHttp2Session): Promise<void> {
  return new Promise((resolve, reject) => {
    session.once('remoteSettings', () => resolve());
    session.once('error', reject);
    session.once('close', () => reject(new TransportError('EOF', 'closed before its settings came')));
  });
}
