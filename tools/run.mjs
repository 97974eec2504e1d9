// The root commands. Needs nothing but Node and npm: pnpm comes by its exact pin through npx.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const { packageManager } = JSON.parse(readFileSync(`${root}package.json`, 'utf8'));
const env = { ...process.env, TURBO_TELEMETRY_DISABLED: '1', DO_NOT_TRACK: '1', CI: process.env.CI ?? '' };
const stampFile = `${root}node_modules/.kube-rx-setup`;

function run(command, args, options = {}) {
  const result = spawnSync(command, args, {
    cwd: root,
    env,
    stdio: 'inherit',
    shell: process.platform === 'win32',
    ...options,
  });
  if (result.error) throw result.error;
  if (result.status !== 0) process.exit(result.status ?? 1);
}
// The start command prints JSON lines on stdout, so the set-up before it speaks on stderr only.
const pnpm = (args, options) => run('npx', ['--yes', packageManager, ...args], options);
const turbo = (args, options) => pnpm(['exec', 'turbo', 'run', ...args, '--output-logs=new-only'], options);

function lockHash() {
  const lock = existsSync(`${root}pnpm-lock.yaml`) ? readFileSync(`${root}pnpm-lock.yaml`) : '';
  return createHash('sha256').update(lock).update(packageManager).digest('hex');
}

function install(options) {
  if (existsSync(stampFile) && readFileSync(stampFile, 'utf8') === lockHash()) return;
  pnpm(['install', '--frozen-lockfile', '--prefer-offline'], options);
  mkdirSync(`${root}node_modules`, { recursive: true });
  writeFileSync(stampFile, lockHash());
}

const quiet = { stdio: ['ignore', 2, 2] };
const [task = 'help', ...rest] = process.argv.slice(2);
switch (task) {
  case 'setup':
    install();
    turbo(['build']);
    break;
  case 'start':
    install(quiet);
    turbo(['build', '--filter=@kube-rx/boundary...'], quiet);
    run(process.execPath, ['examples/boundary/dist/main.js', ...rest]);
    break;
  case 'test':
    install();
    run(process.execPath, ['tools/lint.mjs']);
    turbo(['build', 'typecheck']);
    turbo(['test', '--concurrency=1', ...rest]);
    break;
  case 'bench':
    install();
    turbo(['build']);
    run(process.execPath, ['bench/run.js', ...rest]);
    break;
  case 'build':
  case 'typecheck':
    install();
    turbo([task, ...rest]);
    break;
  case 'lint':
    install();
    run(process.execPath, ['tools/lint.mjs', ...rest]);
    break;
  default:
    console.error('usage: npm run setup|build|typecheck|lint|bench, npm start, npm test');
    process.exit(2);
}
