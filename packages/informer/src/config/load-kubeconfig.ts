// From kubeconfig files to a client configuration, as kubectl finds them.
// Upstream: client-go@v0.30.3:tools/clientcmd/loader.go, client_config.go
import { readFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { delimiter, dirname, isAbsolute, join, resolve } from 'node:path';
import type { Clock } from '@kube-rx/apimachinery';
import { realClock } from '@kube-rx/apimachinery';
import { ConfigError, isConfigError } from '../errors.ts';
import type { AuthProvider, Impersonation } from '../rest/auth.ts';
import { basicAuth, bearerToken } from '../rest/auth.ts';
import type { TlsMaterial } from '../rest/tls-material.ts';
import type { ClientConfig } from './client-config.ts';
import type { ExecCredentials } from './exec-credentials.ts';
import { execCredentials } from './exec-credentials.ts';
import { tlsFromFiles, tokenFileAuth } from './file-credentials.ts';
import { inClusterConfig } from './in-cluster.ts';
import type { ClusterEntry, Kubeconfig, UserEntry } from './kubeconfig.ts';
import { EMPTY_KUBECONFIG, mergeKubeconfigs, parseKubeconfig } from './kubeconfig.ts';

export interface LoadKubeconfigOptions {
  /** This file, which must exist. @defaultValue the files of KUBECONFIG, else `~/.kube/config`, else the pod's own account */
  readonly path?: string | undefined;
  /** @defaultValue the current context */
  readonly context?: string | undefined;
  readonly env?: Readonly<Record<string, string | undefined>> | undefined;
  readonly clock?: Clock | undefined;
}

/**
 * Loads and resolves a configuration. Rejects with a ConfigError that names file and field.
 *
 * @example
 * const client = createClient(await loadKubeconfig({ context: 'staging' }));
 */
export async function loadKubeconfig(options: LoadKubeconfigOptions = {}): Promise<ClientConfig> {
  const { env = process.env, clock = realClock } = options;
  const config = await readKubeconfig(options.path, env);
  const name = options.context ?? config.currentContext;
  if (name === '' && config.contexts.size === 0 && options.path === undefined) {
    try {
      return await inClusterConfig({ env, clock });
    } catch (error) {
      if (!isConfigError(error, 'NOT_IN_CLUSTER')) throw error;
      throw new ConfigError('NO_SUCH_CONTEXT', 'no kubeconfig was found, and this is no pod', { cause: error });
    }
  }
  return resolveContext(config, name, clock);
}

/** All files merged; without a path missing ones count as empty. */
export async function readKubeconfig(
  path: string | undefined,
  env: Readonly<Record<string, string | undefined>> = process.env,
): Promise<Kubeconfig> {
  if (path !== undefined) return readOne(path, true);
  const listed = (env['KUBECONFIG'] ?? '').split(delimiter).filter((file) => file !== '');
  const files = listed.length > 0 ? listed : [join(env['HOME'] ?? homedir(), '.kube', 'config')];
  return mergeKubeconfigs(await Promise.all(files.map((file) => readOne(file, false))));
}

async function readOne(file: string, mustExist: boolean): Promise<Kubeconfig> {
  let text: string;
  try {
    text = await readFile(file, 'utf8');
  } catch (cause) {
    const missing = (cause as { code?: unknown }).code === 'ENOENT';
    if (missing && !mustExist) return EMPTY_KUBECONFIG;
    throw new ConfigError('NO_SUCH_FILE', `kubeconfig ${file}: ${(cause as Error).message}`, { cause });
  }
  const directory = dirname(resolve(file));
  // Loaded when there is something to parse: most processes that import this package run in a pod.
  const { parse: parseYaml } = await import('yaml');
  const resolvePath = (path: string): string => (isAbsolute(path) ? path : resolve(directory, path));
  return parseKubeconfig(text, { file, directory, resolvePath, parseYaml });
}

/** The configuration of one context. */
export function resolveContext(config: Kubeconfig, name: string, clock: Clock = realClock): ClientConfig {
  if (name === '') throw new ConfigError('NO_SUCH_CONTEXT', 'the kubeconfig has no current-context');
  const context = config.contexts.get(name);
  if (context === undefined) throw new ConfigError('NO_SUCH_CONTEXT', `context ${JSON.stringify(name)} does not exist`);
  const cluster = config.clusters.get(context.cluster);
  if (cluster === undefined) {
    throw new ConfigError(
      'BAD_KUBECONFIG',
      `context ${JSON.stringify(name)} names cluster ${JSON.stringify(context.cluster)}, which does not exist`,
    );
  }
  const user = context.user === '' ? undefined : config.users.get(context.user);
  if (context.user !== '' && user === undefined) {
    throw new ConfigError(
      'BAD_KUBECONFIG',
      `context ${JSON.stringify(name)} names user ${JSON.stringify(context.user)}, which does not exist`,
    );
  }
  const exec = user?.exec === undefined ? undefined : execCredentials(user.exec, cluster, clock);
  return {
    server: cluster.server,
    namespace: context.namespace ?? 'default',
    tls: tlsOf(cluster, user, exec, clock),
    auth: authOf(user, exec, clock),
    impersonate: impersonationOf(user),
    proxyUrl: cluster.proxyUrl,
    disableCompression: cluster.disableCompression,
    context: name,
  };
}

function tlsOf(
  cluster: ClusterEntry,
  user: UserEntry | undefined,
  exec: ExecCredentials | undefined,
  clock: Clock,
): () => TlsMaterial | Promise<TlsMaterial> {
  const fixed: TlsMaterial = {
    ca: cluster.caData,
    cert: user?.certData,
    key: user?.keyData,
    serverName: cluster.tlsServerName,
    insecureSkipTlsVerify: cluster.insecureSkipTlsVerify,
  };
  const files = { caFile: cluster.caFile, certFile: user?.certFile, keyFile: user?.keyFile };
  const hasFiles = Object.values(files).some((file) => file !== undefined);
  const base = hasFiles ? tlsFromFiles(fixed, files, clock) : (): TlsMaterial => fixed;
  return exec === undefined ? base : async () => exec.tls(await base());
}

function authOf(
  user: UserEntry | undefined,
  exec: ExecCredentials | undefined,
  clock: Clock,
): AuthProvider | undefined {
  if (user === undefined) return undefined;
  if (user.tokenFile !== undefined) return tokenFileAuth(user.tokenFile, clock);
  if (user.token !== undefined) return bearerToken(user.token);
  if (user.username !== undefined) return basicAuth(user.username, user.password ?? '');
  return exec?.auth;
}

function impersonationOf(user: UserEntry | undefined): Impersonation | undefined {
  if (user?.impersonateUser === undefined) return undefined;
  return {
    user: user.impersonateUser,
    groups: user.impersonateGroups,
    extra: user.impersonateExtra,
    ...(user.impersonateUid === undefined ? {} : { uid: user.impersonateUid }),
  };
}
