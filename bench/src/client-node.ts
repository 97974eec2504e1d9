// @kubernetes/client-node beside the workspace: it is big, and only the bench wants it.
import { spawnSync } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { InformerProgram } from './measures/informer.ts';

const VERSION = '1.4.0';
const folder = fileURLToPath(new URL('../.tmp/client-node/', import.meta.url));

export function installClientNode(): InformerProgram {
  mkdirSync(folder, { recursive: true });
  if (!existsSync(`${folder}node_modules/@kubernetes/client-node`)) {
    writeFileSync(`${folder}package.json`, JSON.stringify({ private: true, type: 'module' }));
    const args = ['install', '--no-audit', '--no-fund', '--loglevel=error', `@kubernetes/client-node@${VERSION}`];
    const { status } = spawnSync('npm', args, { cwd: folder, stdio: ['ignore', 2, 2] });
    if (status !== 0) throw new Error('@kubernetes/client-node could not be installed');
  }
  copyFileSync(new URL('../client-node/informer.mjs', import.meta.url), `${folder}informer.mjs`);
  return {
    name: `client-node ${VERSION}`,
    command: [process.execPath, '--expose-gc', '--max-old-space-size=8192', 'informer.mjs'],
    cwd: folder,
  };
}
