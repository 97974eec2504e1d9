// The packed tarballs as a user gets them: publint and attw on each, and an install of all three into an empty folder.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const { packageManager } = JSON.parse(readFileSync(`${root}package.json`, 'utf8'));
const names = ['apimachinery', 'informer', 'fake-apiserver'];
const MAX_INFORMER_BYTES = 500_000;
const out = mkdtempSync(join(tmpdir(), 'kube-rx-pack-'));
let passed = 0;
let failed = 0;

function check(title, command, args, cwd = root) {
  const result = spawnSync(command, args, { cwd, encoding: 'utf8', shell: process.platform === 'win32' });
  const ok = result.status === 0;
  if (ok) passed += 1;
  else failed += 1;
  console.log(`${ok ? 'ok  ' : 'FAIL'} ${title}`);
  if (!ok) console.log(`${result.stdout}${result.stderr}`);
}

for (const name of names)
  check(`pack ${name}`, 'npx', ['--yes', packageManager, 'pack', '--pack-destination', out], `${root}packages/${name}`);
const tarballs = readdirSync(out).map((file) => join(out, file));
for (const tarball of tarballs) {
  check(`publint ${tarball.split('/').at(-1)}`, process.execPath, [
    'node_modules/publint/src/cli.js',
    'run',
    tarball,
    '--strict',
  ]);
  const attw = 'node_modules/@arethetypeswrong/cli/dist/index.js';
  if (existsSync(`${root}${attw}`))
    check(`attw ${tarball.split('/').at(-1)}`, process.execPath, [attw, tarball, '--profile', 'esm-only']);
}
writeFileSync(join(out, 'package.json'), JSON.stringify({ name: 'consumer', private: true, type: 'module' }));
check('install the tarballs', 'npm', ['install', '--no-audit', '--no-fund', '--silent', ...tarballs], out);
check(
  'import the packages',
  process.execPath,
  ['--input-type=module', '-e', names.map((name) => `await import('@kube-rx/${name}');`).join('\n')],
  out,
);
{
  const code = join(out, 'node_modules/@kube-rx/informer/dist');
  const files = existsSync(code) ? readdirSync(code, { recursive: true }).filter((file) => file.endsWith('.js')) : [];
  const bytes = files.reduce((sum, file) => sum + statSync(join(code, file)).size, 0);
  const ok = bytes > 0 && bytes < MAX_INFORMER_BYTES;
  if (ok) passed += 1;
  else failed += 1;
  console.log(`${ok ? 'ok  ' : 'FAIL'} the informer's own code has ${bytes} bytes, less than ${MAX_INFORMER_BYTES}`);
}
rmSync(out, { recursive: true, force: true });
console.log(`${passed} passed, ${failed} failed`);
process.exit(failed > 0 ? 1 : 0);
