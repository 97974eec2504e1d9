// Credentials from a program: the exec plugins of kubeconfig users.
// Upstream: client-go@v0.30.3:plugin/pkg/client/auth/exec/exec.go#Authenticator
import { spawn } from 'node:child_process';
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
const MAX_OUTPUT_CHARS = 1024 * 1024;

/** Runs the program when there is no credential or the last one has expired or was refused; one run at a time. */
export function execCredentials(
  entry: ExecEntry,
  cluster: ClusterEntry,
  clock: Clock,
  terminal: boolean = process.stdin.isTTY === true,
): ExecCredentials {
  let status: ExecStatus | undefined;
  let running: Promise<ExecStatus> | undefined;
  let tls: { readonly base: TlsMaterial; readonly status: ExecStatus; readonly material: TlsMaterial } | undefined;

  function current(): Promise<ExecStatus> {
    if (status !== undefined && !expired(status, clock.wall?.() ?? clock.now())) return Promise.resolve(status);
    running ??= runPlugin(entry, cluster, clock, terminal)
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

function runPlugin(entry: ExecEntry, cluster: ClusterEntry, clock: Clock, terminal: boolean): Promise<ExecStatus> {
  if (entry.interactiveMode === 'Always' && !terminal) {
    return Promise.reject(failure(entry, 'it needs a terminal (interactiveMode: Always), and there is none'));
  }
  const interactive = terminal && entry.interactiveMode !== 'Never';
  const command =
    !isAbsolute(entry.command) && /[\\/]/.test(entry.command) ? resolve(entry.directory, entry.command) : entry.command;
  const info = {
    apiVersion: entry.apiVersion,
    kind: 'ExecCredential',
    spec: { interactive, ...(entry.provideClusterInfo ? { cluster: clusterInfo(cluster) } : {}) },
  };
  return new Promise((resolveStatus, reject) => {
    // Somebody at a terminal is shown what the plugin says, and may take as long as a login takes.
    const child = spawn(command, entry.args, {
      env: { ...process.env, ...entry.env, KUBERNETES_EXEC_INFO: JSON.stringify(info) },
      stdio: [interactive ? 'inherit' : 'ignore', 'pipe', interactive ? 'inherit' : 'pipe'],
    });
    // What the plugin started itself may hold its end of the pipes.
    const stop = (): void => {
      child.kill('SIGKILL');
      child.stdout?.destroy();
      child.stderr?.destroy();
    };
    const timer = interactive ? undefined : clock.setTimer(stop, EXEC_TIMEOUT_MS, { unref: true });
    let out = '';
    let said = '';
    child.stdout?.setEncoding('utf8').on('data', (text: string) => {
      out += text;
      if (out.length > MAX_OUTPUT_CHARS) stop();
    });
    child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      said = (said + text).slice(-500);
    });
    const fail = (why: string, cause?: unknown): void => {
      timer?.cancel();
      const more = said.trim() === '' ? '' : `: ${said.trim()}`;
      const hint = entry.installHint === undefined ? '' : `; ${entry.installHint}`;
      reject(failure(entry, `${why}${more}${hint}`, cause));
    };
    child.once('error', (error) => fail(error.message, error));
    child.once('close', (code, signal) => {
      if (code !== 0) return fail(code === null ? `it was ended by ${signal}` : `it ended with code ${code}`);
      timer?.cancel();
      try {
        resolveStatus(parseCredential(out, entry));
      } catch (cause) {
        reject(cause);
      }
    });
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
    ...(cluster.execConfig === undefined ? {} : { config: cluster.execConfig }),
    ...(cluster.disableCompression ? { 'disable-compression': true } : {}),
  };
}

function failure(entry: ExecEntry, why: string, cause?: unknown): ConfigError {
  return new ConfigError('EXEC_PLUGIN_FAILED', `credential plugin ${entry.command}: ${why}`, { cause });
}
