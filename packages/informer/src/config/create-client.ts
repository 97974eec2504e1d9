// From a configuration to a client: transport, credentials, REST client. The composition root for Node.
import type { Clock, KubernetesObject } from '@kube-rx/apimachinery';
import { OptionsError } from '@kube-rx/apimachinery';
import type { KubeClientOptions } from '../client/kube-client.ts';
import { KubeClient } from '../client/kube-client.ts';
import { bearerToken } from '../rest/auth.ts';
import type { AxiosTransportOptions } from '../rest/axios-transport.ts';
import { createAxiosTransport } from '../rest/axios-transport.ts';
import { createHttp2Transport } from '../rest/http2-transport.ts';
import type { ListWatchOptions } from '../rest/list-watch.ts';
import { ListWatch } from '../rest/list-watch.ts';
import type { RateLimiter } from '../rest/rate-limiter.ts';
import type { ResourceType } from '../rest/resource-type.ts';
import { RestClient } from '../rest/rest-client.ts';
import type { TlsMaterial } from '../rest/tls-material.ts';
import type { Transport } from '../rest/transport.ts';
import type { Warning } from '../rest/warnings.ts';
import { createWsTransport } from '../rest/ws-transport.ts';
import type { ClientConfig } from './client-config.ts';

/** A server by its URL, for tests and simple cases; see {@link loadKubeconfig} for the rest. */
export interface ServerConfig {
  readonly server: string;
  readonly token?: string | undefined;
  /** PEM text of the certificate authority. */
  readonly ca?: string | undefined;
  readonly insecureSkipTlsVerify?: boolean | undefined;
  readonly namespace?: string | undefined;
}

/** Transports that come with the package. */
export type TransportName = 'axios' | 'http2' | 'websocket';

export interface CreateClientOptions extends KubeClientOptions {
  /**
   * `axios`: Node's http and https, a connection for each watch. `http2`: all of the client on one connection, or axios where the server has
   * no HTTP/2. `websocket`: watches as WebSockets, the rest over axios. Or any object with `send` and `close`. @defaultValue `axios`
   */
  readonly transport?: Transport | TransportName | undefined;
  /** Bound of every request but a watch, ms; of a list the longest silence in it; 0 for none. @defaultValue 60 000 */
  readonly timeoutMs?: number | undefined;
  /** Repetitions for answers with Retry-After and lost connections. Informers wait by themselves. @defaultValue 10 */
  readonly maxRetries?: number | undefined;
  /** @defaultValue none */
  readonly rateLimiter?: RateLimiter | undefined;
  readonly userAgent?: string | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly onWarning?: ((warning: Warning) => void) | undefined;
  readonly clock?: Clock | undefined;
}

/** A client that owns its connections. */
export class ConnectedClient extends KubeClient implements AsyncDisposable {
  /** Namespace of the configuration. */
  readonly namespace: string;
  readonly #transport: Transport;

  constructor(rest: RestClient, transport: Transport, namespace: string, options: KubeClientOptions) {
    super(rest, options);
    this.#transport = transport;
    this.namespace = namespace;
  }

  /** List and watch of a resource, for a Reflector or a SharedIndexInformer of one's own. */
  listWatch<T extends KubernetesObject>(type: ResourceType<T>, options: ListWatchOptions = {}): ListWatch<T> {
    return new ListWatch<T>(this.rest, type, options);
  }

  /** Ends idle connections; running requests go on. */
  close(): void {
    this.#transport.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    this.close();
    return Promise.resolve();
  }
}

/**
 * Makes a client; no request is sent.
 *
 * @example
 * const client = createClient(await loadKubeconfig());
 * const local = createClient({ server: 'http://127.0.0.1:8001' });
 */
export function createClient(config: ClientConfig | ServerConfig, options: CreateClientOptions = {}): ConnectedClient {
  try {
    new URL(config.server);
  } catch {
    throw new OptionsError('server', config.server, 'a URL');
  }
  const {
    transport: given,
    timeoutMs = 60_000,
    maxRetries,
    rateLimiter,
    userAgent,
    headers,
    onWarning,
    clock,
  } = options;
  const full =
    'token' in config || 'ca' in config || 'insecureSkipTlsVerify' in config
      ? fromServer(config)
      : (config as ClientConfig);
  const transport =
    typeof given === 'object' ? given : createTransport(given ?? 'axios', transportOptions(full), clock);
  const rest = new RestClient({
    server: full.server,
    transport,
    auth: full.auth,
    impersonate: full.impersonate,
    timeoutMs,
    maxRetries,
    rateLimiter,
    userAgent,
    headers,
    onWarning,
    clock,
  });
  return new ConnectedClient(rest, transport, full.namespace ?? 'default', options);
}

/** A transport by its name, for a configuration; see {@link transportOptions}. */
function createTransport(name: TransportName, options: AxiosTransportOptions, clock?: Clock): Transport {
  switch (name) {
    case 'axios':
      return createAxiosTransport(options);
    case 'http2':
      return createHttp2Transport({ ...options, clock });
    case 'websocket':
      return createWsTransport({
        calls: createAxiosTransport(options),
        tls: options.tls,
        proxyUrl: options.proxyUrl,
        clock,
      });
    default:
      throw new OptionsError('transport', name satisfies never, '"axios", "http2", "websocket" or a transport');
  }
}

/** What a configuration says about the transport. */
function transportOptions(config: ClientConfig): AxiosTransportOptions {
  return {
    tls: config.tls,
    proxyUrl: config.proxyUrl,
    compression: config.disableCompression ? 'none' : 'auto',
  };
}

function fromServer(config: ServerConfig): ClientConfig {
  const material: TlsMaterial = { ca: config.ca, insecureSkipTlsVerify: config.insecureSkipTlsVerify };
  return {
    server: config.server,
    namespace: config.namespace,
    tls: () => material,
    auth: config.token === undefined ? undefined : bearerToken(config.token),
  };
}
