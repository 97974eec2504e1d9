// How to reach one API server: what a kubeconfig, a pod's environment or a plain URL boil down to.
import type { AuthProvider, Impersonation } from '../rest/auth.ts';
import type { TlsMaterial } from '../rest/tls-material.ts';

export interface ClientConfig {
  /** Base URL with an optional path in front of every API path. */
  readonly server: string;
  /** Namespace of the context. @defaultValue `default` */
  readonly namespace?: string | undefined;
  /** Asked before every request; another object means that certificates have changed. */
  readonly tls?: (() => TlsMaterial | Promise<TlsMaterial>) | undefined;
  readonly auth?: AuthProvider | undefined;
  readonly impersonate?: Impersonation | undefined;
  readonly proxyUrl?: string | undefined;
  /** Never asks for packed answers; a kubeconfig's `disable-compression`. @defaultValue false */
  readonly disableCompression?: boolean | undefined;
  /** Name of the context, for messages. */
  readonly context?: string | undefined;
}
