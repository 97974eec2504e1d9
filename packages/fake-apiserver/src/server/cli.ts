// The command fake-apiserver.
import { OptionsError } from '@kube-rx/apimachinery';
import { FakeApiServerError } from '../errors.ts';
import { type CliArguments, HELP, parseArguments } from './cli-arguments.ts';
import { type FakeApiServer, startFakeApiServer } from './fake-api-server.ts';
import { writeKubeconfig } from './kubeconfig.ts';
import { formatProblem, loadManifests } from './load-manifests.ts';

/** The part of a process the command uses. */
export interface CliProcess {
  readonly stdout: { write(text: string): unknown };
  readonly stderr: { write(text: string): unknown };
  once(signal: 'SIGINT' | 'SIGTERM', listener: () => void): unknown;
}

/** Resolves to the exit code: 0 after a signal, 1 with one line on stderr for anything that keeps it from starting. */
export async function main(argv: readonly string[], process: CliProcess): Promise<number> {
  let args: CliArguments;
  try {
    args = parseArguments(argv);
  } catch (error) {
    return fail(process, error);
  }
  if (args.help) {
    process.stdout.write(HELP);
    return 0;
  }
  const stopped = new Promise<void>((resolve) => {
    process.once('SIGINT', resolve);
    process.once('SIGTERM', resolve);
  });
  let server: FakeApiServer;
  try {
    server = await startFakeApiServer(args.server);
  } catch (error) {
    return fail(process, error);
  }
  try {
    await prepare(server, args, process);
  } catch (error) {
    await server.destroy();
    return fail(process, error);
  }
  await stopped;
  await server.close();
  return 0;
}

async function prepare(server: FakeApiServer, args: CliArguments, process: CliProcess): Promise<void> {
  if (args.load.length > 0) {
    const report = await loadManifests(server, args.load);
    for (const problem of report.problems) process.stderr.write(`${formatProblem(problem)}\n`);
  }
  if (args.kubeconfig !== undefined) writeKubeconfig(args.kubeconfig, server.kubeconfig);
  const { url, token } = server;
  if (args.json) {
    process.stdout.write(`${JSON.stringify({ url, token, kubeconfig: args.kubeconfig ?? null })}\n`);
    return;
  }
  process.stdout.write(`serving on ${url}\n`);
  if (args.kubeconfig === undefined) process.stdout.write(`token ${token}\n`);
  else process.stdout.write(`kubeconfig ${args.kubeconfig}\n`);
}

function fail(process: CliProcess, error: unknown): number {
  const known = error instanceof OptionsError || error instanceof FakeApiServerError || isSystemError(error);
  const text = error instanceof Error ? (known ? error.message : (error.stack ?? error.message)) : String(error);
  process.stderr.write(`fake-apiserver: ${known ? text.split('\n', 1)[0] : text}\n`);
  return 1;
}

const isSystemError = (error: unknown): boolean => error instanceof Error && 'syscall' in error;
