// The server under measurement: ours in a process of its own, or one that runs already.
import { type ChildProcess, spawn } from 'node:child_process';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';

export interface Target {
  readonly url: string;
  readonly token: string;
  /** For CPU and memory; undefined when it is not known. */
  readonly pid: number | undefined;
  readonly name: string;
}

export interface OwnTarget extends Target, AsyncDisposable {
  /** From the start of the process to the line that says it is ready. */
  readonly startMs: number;
}

/** Our server on a free loopback port, over plain HTTP unless `tls` is asked for. */
export async function startOwnServer({ tls = false }: { readonly tls?: boolean } = {}): Promise<OwnTarget> {
  const packageFile = createRequire(import.meta.url).resolve('@kube-rx/fake-apiserver/package.json');
  const program = join(dirname(packageFile), 'bin', 'fake-apiserver.js');
  const startedAt = performance.now();
  const child = spawn(
    process.execPath,
    ['--expose-gc', program, ...(tls ? [] : ['--insecure']), '--json', '--port', '0'],
    {
      stdio: ['ignore', 'pipe', 'inherit'],
    },
  );
  const line = await firstLine(child);
  const startMs = performance.now() - startedAt;
  const { url, token } = JSON.parse(line) as { url: string; token: string };
  return {
    url,
    token,
    pid: child.pid,
    name: 'kube-rx',
    startMs,
    async [Symbol.asyncDispose]() {
      if (child.exitCode !== null) return;
      await new Promise<void>((resolve) => {
        child.once('exit', () => resolve());
        child.kill('SIGTERM');
      });
    },
  };
}

function firstLine(child: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    const lines = createInterface({ input: child.stdout! });
    lines.once('line', (line) => {
      // Whatever else it says is read and dropped, so that it never waits for us.
      lines.on('line', () => {});
      resolve(line);
    });
    child.once('error', reject);
    child.once('exit', (code) => reject(new Error(`the server ended with code ${code} before it was ready`)));
  });
}
