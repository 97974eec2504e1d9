// Credentials from a program: the exec plugins of kubeconfig users.
// Upstream: client-go@v0.30.3:plugin/pkg/client/auth/exec/exec.go#Authenticator
import { execFile } from 'node:child_process';
import { isAbsolute, resolve } from 'node:path';
import type { Clock } from '@kube-rx/apimachinery';
import { ConfigError } from '../errors.ts';
import type { AuthProvider } from '../rest/auth.ts';
import type { TlsMaterial } from '../rest/tls-material.ts';
import type { ClusterEntry, ExecEntry } from './kubeconfig.ts';

interface ExecStatus {
  readonly token?: string;
  readonly clientCertificateData?: string;
  readonly clientKeyData?: string;
  readonly expirationTimestamp?: string;
}

export interface ExecCredentials {
  readonly auth: AuthProvider;
  /** The given material with the plugin's certificate, the same object until a new certificate came. */
  tls(base: TlsMaterial): Promise<TlsMaterial>;
}

// A plugin that waits for somebody at a terminal that is not there must not hang the client for ever.
const EXEC_TIMEOUT_MS = 60_000;

/** Runs the program when there is no credential or the last one has expired or was refused; one run at a time. */
export function execCredentials(entry: ExecEntry, cluster: ClusterEntry, clock: Clock): ExecCredentials {
  let status: ExecStatus | undefined;
  let running: Promise<ExecStatus> | undefined;
  let tls: { readonly base: TlsMaterial; readonly status: ExecStatus; readonly material: TlsMaterial } | undefined;

  function current(): Promise<ExecStatus> {
    if (status !== undefined && !expired(status, clock.wall?.() ?? clock.now())) return Promise.resolve(status);
    running ??= runPlugin(entry, cluster)
      .then((next) => {
        status = next;
        return next;
      })
      .finally(() => {
        running = undefined;
      });
    return running;
  }
  return {
    auth: {
      async headers() {
        const { token } = await current();
        return token === undefined ? {} : { authorization: `Bearer ${token}` };
      },
      rejected() {
        status = undefined;
        return true;
      },
    },
    async tls(base) {
      const next = await current();
      const same =
        tls?.base === base &&
        tls.status.clientCertificateData === next.clientCertificateData &&
        tls.status.clientKeyData === next.clientKeyData;
      if (tls !== undefined && same) return tls.material;
      const material =
        next.clientCertificateData === undefined
          ? base
          : { ...base, cert: next.clientCertificateData, key: next.clientKeyData };
      tls = { base, status: next, material };
      return material;
    },
  };
}

function expired(status: ExecStatus, now: number): boolean {
  if (status.expirationTimestamp === undefined) return false;
  const at = Date.parse(status.expirationTimestamp);
  return !Number.isNaN(at) && at <= now;
}

function runPlugin(entry: ExecEntry, cluster: ClusterEntry): Promise<ExecStatus> {
  const command =
    !isAbsolute(entry.command) && /[\\/]/.test(entry.command) ? resolve(entry.directory, entry.command) : entry.command;
  const info = {
    apiVersion: entry.apiVersion,
    kind: 'ExecCredential',
    spec: { interactive: false, ...(entry.provideClusterInfo ? { cluster: clusterInfo(cluster) } : {}) },
  };
  if (entry.interactiveMode === 'Always') {
    return Promise.reject(
      failure(entry, 'it needs a terminal (interactiveMode: Always), which a client library has not'),
    );
  }
  return new Promise((resolveStatus, reject) => {
    execFile(
      command,
      [...entry.args],
      {
        env: { ...process.env, ...entry.env, KUBERNETES_EXEC_INFO: JSON.stringify(info) },
        timeout: EXEC_TIMEOUT_MS,
        maxBuffer: 1024 * 1024,
      },
      (error, stdout, stderr) => {
        if (error !== null) {
          const hint = entry.installHint === undefined ? '' : `; ${entry.installHint}`;
          reject(
            failure(
              entry,
              `${error.message.trim()}${stderr.trim() === '' ? '' : `: ${stderr.trim().slice(0, 500)}`}${hint}`,
              error,
            ),
          );
          return;
        }
        try {
          resolveStatus(parseCredential(stdout, entry));
        } catch (cause) {
          reject(cause);
        }
      },
    ).stdin?.end();
  });
}

function parseCredential(stdout: string, entry: ExecEntry): ExecStatus {
  let credential: { kind?: unknown; apiVersion?: unknown; status?: ExecStatus };
  try {
    credential = JSON.parse(stdout) as typeof credential;
  } catch (cause) {
    throw failure(entry, 'its output is not JSON', cause);
  }
  if (credential.kind !== 'ExecCredential')
    throw failure(entry, `it printed kind ${JSON.stringify(credential.kind)}, not ExecCredential`);
  if (credential.apiVersion !== entry.apiVersion) {
    throw failure(entry, `it printed ${JSON.stringify(credential.apiVersion)}, but ${entry.apiVersion} is configured`);
  }
  const { status } = credential;
  if (typeof status !== 'object' || status === null) throw failure(entry, 'its answer has no status');
  if (status.token === undefined && status.clientCertificateData === undefined) {
    throw failure(entry, 'it gave neither a token nor a client certificate');
  }
  if ((status.clientCertificateData === undefined) !== (status.clientKeyData === undefined)) {
    throw failure(entry, 'it gave only one of client certificate and key');
  }
  return status;
}

function clusterInfo(cluster: ClusterEntry): Record<string, unknown> {
  return {
    server: cluster.server,
    ...(cluster.tlsServerName === undefined ? {} : { 'tls-server-name': cluster.tlsServerName }),
    ...(cluster.insecureSkipTlsVerify ? { 'insecure-skip-tls-verify': true } : {}),
    ...(cluster.caData === undefined ? {} : { 'certificate-authority-data': btoa(cluster.caData) }),
    ...(cluster.proxyUrl === undefined ? {} : { 'proxy-url': cluster.proxyUrl }),
    ...(cluster.disableCompression ? { 'disable-compression': true } : {}),
  };
}

function failure(entry: ExecEntry, why: string, cause?: unknown): ConfigError {
  return new ConfigError('EXEC_PLUGIN_FAILED', `credential plugin ${entry.command}: ${why}`, { cause });
}
