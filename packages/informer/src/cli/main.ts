// The command kube-informer: the process on one side, the command on the other.
import { readFile } from 'node:fs/promises';
import type { Clock } from '@kube-rx/apimachinery';
import { OptionsError, realClock } from '@kube-rx/apimachinery';
import { userAgent } from '../client/user-agent.ts';
import type { ClientConfig } from '../config/client-config.ts';
import type { ConnectedClient } from '../config/create-client.ts';
import { createClient } from '../config/create-client.ts';
import { tlsFromFiles } from '../config/file-credentials.ts';
import { loadKubeconfig } from '../config/load-kubeconfig.ts';
import { bearerToken } from '../rest/auth.ts';
import type { ConnectionArguments, WatchArguments } from './arguments.ts';
import { HELP, parseArguments } from './arguments.ts';
import { jsonOutput, textOutput } from './output.ts';
import { watchCommand } from './watch-command.ts';

/** The part of the process that is used. */
export interface ProcessLike {
  readonly stdout: { write(text: string): unknown; on(event: 'error', listener: (error: Error) => void): unknown };
  readonly stderr: { write(text: string): unknown };
  readonly env: Readonly<Record<string, string | undefined>>;
  on(event: 'SIGINT' | 'SIGTERM', listener: () => void): unknown;
  off(event: 'SIGINT' | 'SIGTERM', listener: () => void): unknown;
}

/** Runs the command and resolves with its exit code: 0, 1 for a failure, 2 for a command line that cannot be used. */
export async function main(argv: readonly string[], process: ProcessLike, clock: Clock = realClock): Promise<number> {
  const fail = (code: number, error: unknown): number => {
    process.stderr.write(`kube-informer: ${error instanceof Error ? error.message : String(error)}\n`);
    return code;
  };
  let args: ReturnType<typeof parseArguments>;
  try {
    args = parseArguments(argv);
  } catch (error) {
    return fail(2, error);
  }
  if (args.command === 'help') {
    process.stdout.write(HELP);
    return 0;
  }
  if (args.command === 'version') {
    process.stdout.write(`${await packageVersion()}\n`);
    return 0;
  }
  try {
    await watch(args, process, clock);
    return 0;
  } catch (error) {
    return fail(error instanceof OptionsError ? 2 : 1, error);
  }
}

async function watch(args: WatchArguments, process: ProcessLike, clock: Clock): Promise<void> {
  const abort = new AbortController();
  const stop = (): void => abort.abort();
  const timer = args.seconds === undefined ? undefined : clock.setTimer(stop, args.seconds * 1000);
  process.on('SIGINT', stop);
  process.on('SIGTERM', stop);
  // The reader of a pipe may leave before we do.
  process.stdout.on('error', stop);
  try {
    const config = await configOf(args.connection, process.env, clock);
    const client = connect(config, args, await packageVersion(), clock, (text) =>
      process.stderr.write(`kube-informer: warning: ${text}\n`),
    );
    const make = args.json ? jsonOutput : textOutput;
    const output = make({
      write: (line) => process.stdout.write(`${line}\n`),
      writeError: (line) => process.stderr.write(`${line}\n`),
      now: () => clock.now(),
      diff: args.diff,
      showInitial: args.showInitial,
    });
    try {
      await watchCommand(args, {
        client,
        defaultNamespace: config.namespace ?? 'default',
        output,
        clock,
        signal: abort.signal,
        warn: (text) => process.stderr.write(`kube-informer: ${text}\n`),
      });
    } finally {
      client.close();
    }
  } finally {
    timer?.cancel();
    process.off('SIGINT', stop);
    process.off('SIGTERM', stop);
  }
}

async function configOf(connection: ConnectionArguments, env: ProcessLike['env'], clock: Clock): Promise<ClientConfig> {
  const { kubeconfig, context, server, token, certificateAuthority: caFile, insecureSkipTlsVerify } = connection;
  if (server !== undefined) {
    const tls = tlsFromFiles({ insecureSkipTlsVerify }, { caFile }, clock);
    return { server, tls, ...(token === undefined ? {} : { auth: bearerToken(token) }) };
  }
  const config = await loadKubeconfig({ path: kubeconfig, context, env, clock });
  return token === undefined ? config : { ...config, auth: bearerToken(token) };
}

function connect(
  config: ClientConfig,
  args: WatchArguments,
  version: string,
  clock: Clock,
  warn: (text: string) => void,
): ConnectedClient {
  const agent = userAgent({ name: 'kube-informer', version });
  return createClient(config, {
    transport: args.transport === 'http' ? 'axios' : args.transport,
    userAgent: agent,
    clock,
    maxRetries: 0,
    onWarning: ({ text }) => warn(text),
  });
}

async function packageVersion(): Promise<string> {
  const text = await readFile(new URL('../../package.json', import.meta.url), 'utf8');
  return (JSON.parse(text) as { version: string }).version;
}
