// Requests and streams over HTTP/2 on Node: all of a client on one connection, as client-go does it.
// Differs: opt-in; a server that chooses HTTP/1.1 in the TLS handshake is served by the other transport.
import type { Http2TransportOptions } from './http2-options.ts';
import { chooseProxy } from './proxy-choice.ts';
import type { Transport } from './transport.ts';

/**
 * One connection for each server, another when its streams are used up. Give it to `createClient` as `transport: 'http2'`.
 *
 * @example createClient(config, { transport: createHttp2Transport({ tls: config.tls, pingAfterMs: 10_000 }) })
 */
export function createHttp2Transport(options: Http2TransportOptions = {}): Transport {
  // Here, so that a proxy that cannot be used is an error at once.
  const proxyOf = chooseProxy(options.proxyUrl, process.env);
  let loaded: Promise<Transport> | undefined;
  // Loaded with the first request: a program that only imports this package should start fast.
  const load = async (): Promise<Transport> => {
    const { http2Client } = await import('./http2-client.ts');
    return http2Client(options, proxyOf);
  };
  return {
    async send(request) {
      loaded ??= load();
      return (await loaded).send(request);
    },
    close() {
      loaded?.then((transport) => transport.close()).catch(() => {});
    },
  };
}
