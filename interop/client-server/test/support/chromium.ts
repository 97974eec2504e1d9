// A headless Chromium, where the machine has one.
import { spawn, spawnSync } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const NAMES = [process.env['CHROMIUM'], 'chromium', 'chromium-browser', 'google-chrome'];

/** The command, undefined when there is none. */
export const chromium: string | undefined = NAMES.find(
  (name) => name !== undefined && name !== '' && spawnSync(name, ['--version'], { stdio: 'ignore' }).status === 0,
);

/** Opens a page until it is disposed. */
export async function openPage(url: string): Promise<AsyncDisposable> {
  if (chromium === undefined) throw new Error('there is no Chromium');
  const profile = await mkdtemp(join(tmpdir(), 'kube-rx-chromium-'));
  const child = spawn(
    chromium,
    [
      '--headless=new',
      '--no-sandbox',
      '--disable-gpu',
      '--disable-dev-shm-usage',
      '--disable-background-networking',
      '--no-first-run',
      `--user-data-dir=${profile}`,
      url,
    ],
    { stdio: 'ignore', detached: true },
  );
  const exited = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  return {
    async [Symbol.asyncDispose]() {
      // Its helpers are in a process group of their own, with the browser as the leader.
      if (child.pid !== undefined && child.exitCode === null) process.kill(-child.pid, 'SIGKILL');
      await exited;
      await rm(profile, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}
