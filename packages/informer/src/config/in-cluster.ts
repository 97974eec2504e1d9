// The configuration of a process that runs in a pod.
// Upstream: client-go@v0.30.3:rest/config.go#InClusterConfig
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Clock } from '@kube-rx/apimachinery';
import { realClock } from '@kube-rx/apimachinery';
import { ConfigError } from '../errors.ts';
import type { ClientConfig } from './client-config.ts';
import { tlsFromFiles, tokenFileAuth } from './file-credentials.ts';

export interface InClusterOptions {
  readonly env?: Readonly<Record<string, string | undefined>> | undefined;
  /** @defaultValue `/var/run/secrets/kubernetes.io/serviceaccount` */
  readonly serviceAccountDirectory?: string | undefined;
  readonly clock?: Clock | undefined;
}

/** Rejects with ConfigError NOT_IN_CLUSTER outside a pod. Token and CA are read again as they are rotated. */
export async function inClusterConfig(options: InClusterOptions = {}): Promise<ClientConfig> {
  const { env = process.env, clock = realClock } = options;
  const host = env['KUBERNETES_SERVICE_HOST'];
  const port = env['KUBERNETES_SERVICE_PORT'];
  if (!host || !port) {
    throw new ConfigError(
      'NOT_IN_CLUSTER',
      'KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT are not set: this is no pod',
    );
  }
  const directory = options.serviceAccountDirectory ?? '/var/run/secrets/kubernetes.io/serviceaccount';
  const auth = tokenFileAuth(join(directory, 'token'), clock);
  await auth.headers();
  const namespace = await readFile(join(directory, 'namespace'), 'utf8').catch(() => 'default');
  return {
    server: `https://${host.includes(':') ? `[${host}]` : host}:${port}`,
    namespace: namespace.trim(),
    auth,
    tls: tlsFromFiles({}, { caFile: join(directory, 'ca.crt') }, clock),
    context: 'in-cluster',
  };
}
