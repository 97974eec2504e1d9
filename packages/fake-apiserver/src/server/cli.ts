// The command fake-apiserver.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Lifecycle, OptionsError } from '@kube-rx/apimachinery';
import { FakeApiServerError } from '../errors.ts';
import type { EtcdClient } from '../etcd/client.ts';
import { type CliArguments, HELP, parseArguments } from './cli-arguments.ts';
import { type FakeApiServer, startFakeApiServer } from './fake-api-server.ts';
import { writeKubeconfig } from './kubeconfig.ts';

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
  const lifecycle = new Lifecycle();
  try {
    const etcd = args.etcdServer === undefined ? undefined : await connect(args.etcdServer);
    if (etcd !== undefined) lifecycle.defer(() => etcd.close());
    const server = await startFakeApiServer({ ...args.server, etcd });
    lifecycle.defer(() => server.close());
    await prepare(server, args, process, lifecycle);
    await stopped;
  } catch (error) {
    await lifecycle.close();
    return fail(process, error);
  }
  await lifecycle.close();
  return 0;
}

/** The code for a real etcd is loaded only here. Fails when it does not answer. */
async function connect(endpoint: string): Promise<EtcdClient> {
  if (!URL.canParse(endpoint)) throw new OptionsError('--etcd-servers', endpoint, 'a URL like http://127.0.0.1:2379');
  const { RemoteEtcd } = await import('../etcd/remote/remote-etcd.ts');
  const etcd = new RemoteEtcd({ endpoint });
  try {
    await etcd.status();
  } catch (cause) {
    await etcd.close();
    throw new OptionsError('--etcd-servers', endpoint, 'the address of an etcd that answers', { cause });
  }
  return etcd;
}

/** A kubeconfig that nobody asked for goes with the server. */
function temporaryKubeconfig(lifecycle: Lifecycle): string {
  const folder = mkdtempSync(join(tmpdir(), 'fake-apiserver-'));
  lifecycle.defer(() => rmSync(folder, { recursive: true, force: true }));
  return join(folder, 'kubeconfig');
}

async function prepare(
  server: FakeApiServer,
  args: CliArguments,
  process: CliProcess,
  lifecycle: Lifecycle,
): Promise<void> {
  if (args.load.length > 0) {
    // Loaded when it is needed: it brings a parser for YAML.
    const { formatProblem, loadManifests } = await import('./load-manifests.ts');
    const report = await loadManifests(server, args.load);
    for (const problem of report.problems) process.stderr.write(`${formatProblem(problem)}\n`);
  }
  const kubeconfig = args.kubeconfig ?? temporaryKubeconfig(lifecycle);
  writeKubeconfig(kubeconfig, server.kubeconfig);
  const { url, token } = server;
  process.stdout.write(
    args.json ? `${JSON.stringify({ url, token, kubeconfig })}\n` : `serving on ${url}\nkubeconfig ${kubeconfig}\n`,
  );
}

function fail(process: CliProcess, error: unknown): number {
  const known = error instanceof OptionsError || error instanceof FakeApiServerError || isSystemError(error);
  const text = error instanceof Error ? (known ? error.message : (error.stack ?? error.message)) : String(error);
  process.stderr.write(`fake-apiserver: ${known ? text.split('\n', 1)[0] : text}\n`);
  return 1;
}

const isSystemError = (error: unknown): boolean => error instanceof Error && 'syscall' in error;
