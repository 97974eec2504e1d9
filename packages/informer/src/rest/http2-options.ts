// Settings of the HTTP/2 transport.
import type { Clock } from '@kube-rx/apimachinery';
import type { Compression } from './axios-transport.ts';
import type { TlsSource } from './tls-material.ts';
import type { Transport } from './transport.ts';

export interface Http2TransportOptions {
  /**
   * Asked before every request. When another object comes back than last time, requests go over new connections; the old ones end their
   * watches at once and close after their last call.
   */
  readonly tls?: TlsSource | undefined;
  /** As for {@link AxiosTransportOptions}. */
  readonly proxyUrl?: string | undefined;
  /** As for {@link AxiosTransportOptions}. @defaultValue `auto` */
  readonly compression?: Compression | undefined;
  /** A ping after so long without a byte from the server, ms; 0 for none. @defaultValue 30 000 */
  readonly pingAfterMs?: number | undefined;
  /** A connection whose ping is not answered in so long is given up, ms. @defaultValue 15 000 */
  readonly pingTimeoutMs?: number | undefined;
  /** Speaks HTTP/2 to `http:` URLs too, without asking. @defaultValue false: they go over HTTP/1.1 */
  readonly priorKnowledge?: boolean | undefined;
  /** Carries requests to servers without HTTP/2. @defaultValue axios, with the same settings */
  readonly http1?: Transport | undefined;
  readonly clock?: Clock | undefined;
}
