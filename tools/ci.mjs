// Stages of .ci/run. Each returns {passed, failed}; a stage that cannot run for a stated reason says so and counts nothing.
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { provision } from './ci-provision.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const work = mkdtempSync(join(tmpdir(), 'kube-rx-ci-'));
// The recorded contracts and client drivers are laid beside the checkout; without them those stages say so.
const kits = resolve(root, process.env.KUBE_RX_KITS ?? '../shared');
const only = process.argv.slice(2);
const totals = { passed: 0, failed: 0 };
const summary = [];

function run(command, args, options = {}) {
  const started = performance.now();
  const result = spawnSync(command, args, {
    cwd: root,
    encoding: 'utf8',
    maxBuffer: 1 << 28,
    stdio: ['ignore', 'pipe', 'pipe'],
    ...options,
  });
  return { ...result, seconds: Math.round((performance.now() - started) / 1000) };
}

/** The last "N passed, N failed" of an output. */
function counted(output) {
  const lines = [...output.matchAll(/(\d+) passed, (\d+) failed/g)];
  const last = lines.at(-1);
  return last ? { passed: Number(last[1]), failed: Number(last[2]) } : undefined;
}

async function stage(name, body) {
  if (only.length > 0 && !only.includes(name)) return;
  console.log(`\n=== ${name}`);
  const started = performance.now();
  let outcome;
  try {
    outcome = await body();
  } catch (error) {
    console.log(error.stack);
    outcome = { passed: 0, failed: 1 };
  }
  const seconds = Math.round((performance.now() - started) / 1000);
  if (outcome.skipped) {
    console.log(`not run: ${outcome.skipped}`);
    summary.push(`${name}: not run, ${outcome.skipped}`);
    return;
  }
  totals.passed += outcome.passed;
  totals.failed += outcome.failed;
  summary.push(`${name}: ${outcome.passed} passed, ${outcome.failed} failed (${seconds} s)`);
  console.log(summary.at(-1));
}

/** Runs a judge that ends with "N passed, N failed"; its failing lines are shown. */
function judge(command, args, options) {
  const result = run(command, args, options);
  const output = `${result.stdout ?? ''}\n${result.stderr ?? ''}`;
  const counts = counted(output);
  if (counts === undefined || counts.failed > 0 || result.status !== 0)
    console.log(output.trim().split('\n').slice(-150).join('\n'));
  return counts ?? { passed: 0, failed: 1 };
}

/** A fake API server as its own process, the way users of other languages run it. */
async function withServer(args, body) {
  const child = spawn(
    process.execPath,
    [
      'packages/fake-apiserver/bin/fake-apiserver.js',
      '--port',
      '0',
      '--json',
      '--kubeconfig',
      join(work, `kubeconfig-${args.length}`),
      ...args,
    ],
    {
      cwd: root,
      stdio: ['ignore', 'pipe', 'inherit'],
    },
  );
  const ended = new Promise((done) => child.once('exit', done));
  try {
    const info = await new Promise((done, fail) => {
      let text = '';
      child.stdout.on('data', (chunk) => {
        text += chunk;
        if (text.includes('\n')) done(JSON.parse(text.slice(0, text.indexOf('\n'))));
      });
      ended.then((code) => fail(new Error(`the server ended with ${code} before it was ready`)));
    });
    return await body(info);
  } finally {
    child.kill('SIGTERM');
    await ended;
  }
}

/** Adds up what vitest's JSON reports say; a package without a report did not get to run its tests. */
function addReports(folder, counts) {
  for (const file of readdirSync(folder)) {
    const report = JSON.parse(readFileSync(join(folder, file), 'utf8'));
    counts.passed += report.numPassedTests;
    counts.failed +=
      report.numFailedTests +
      report.testResults.filter((suite) => suite.status === 'failed' && suite.assertionResults.length === 0).length;
  }
  return counts;
}

const needKit = (path) => (existsSync(join(kits, path)) ? undefined : { skipped: `no ${path} beside the checkout` });
const contract = (info, ...args) =>
  judge(process.execPath, [
    join(kits, 'contract/run.mjs'),
    '--server',
    info.url,
    '--token',
    info.token,
    '--compact-url',
    `${info.url}/_fake/compact`,
    ...args,
  ]);

await stage('npm-test', () => {
  const results = join(work, 'results');
  mkdirSync(results, { recursive: true });
  const result = run('npm', ['test'], {
    stdio: 'inherit',
    env: { ...process.env, KUBE_RX_TEST_RESULTS: results, TURBO_FORCE: 'true' },
  });
  const counts = addReports(results, { passed: 0, failed: 0 });
  // A command that fails without a failing test (lint, types, build) is one failure.
  return result.status !== 0 && counts.failed === 0 ? { ...counts, failed: 1 } : counts;
});

await stage('packed-packages', () => judge(process.execPath, ['tools/check-packages.mjs']));

await stage('main-job', () => {
  const result = run('npm', ['start', '--silent', '--', '--seconds', '25', '--json']);
  const last = (result.stdout ?? '').trim().split('\n').at(-1);
  console.log(last);
  const ok = result.status === 0 && JSON.parse(last).consistent === true;
  if (!ok) console.log(result.stderr);
  return { passed: ok ? 1 : 0, failed: ok ? 0 : 1 };
});

await stage(
  'contract',
  () =>
    needKit('contract') ??
    withServer(['--feature-gates=', '--namespace-controller=false'], (info) =>
      contract(info, '--have', 'protobuf,metrics,no-namespace-controller,admission-policy'),
    ),
);
await stage(
  'contract-http2',
  () =>
    needKit('contract') ??
    withServer(['--namespace-controller=false'], (info) =>
      contract(info, '--http', '2', '--no-slow', '--only', 'watch/*,list/*,get/*'),
    ),
);
await stage(
  'contract-watchlist',
  () =>
    needKit('contract') ??
    withServer(['--feature-gates=WatchList=true'], (info) =>
      contract(info, '--have', 'gate:WatchList', '--needing', 'gate:WatchList'),
    ),
);
await stage(
  'contract-nocache',
  () =>
    needKit('contract') ??
    withServer(['--watch-cache=false'], (info) =>
      contract(info, '--have', 'watch-cache:off', '--needing', 'watch-cache:off'),
    ),
);
await stage(
  'kinds',
  () =>
    needKit('kinds') ??
    withServer(['--namespace-controller=false'], (info) =>
      judge(process.execPath, [join(kits, 'kinds/check.mjs'), '--server', info.url, '--token', info.token]),
    ),
);
await stage(
  'contract-client',
  () =>
    needKit('contract-client') ??
    judge(process.execPath, [
      join(kits, 'contract-client/compare.mjs'),
      '--driver',
      'node contract/drivers/informer.js {server} {config}',
      '--jobs',
      '4',
      '--retries',
      '2',
      '--slack-ms',
      '1500',
    ]),
);

const tools = await provision(work, only);
for (const [name, files] of [
  ['microservices-demo', ['--ns', 'demo', 'microservices-demo.yaml']],
  ['guestbook', ['--ns', 'guest', 'guestbook.yaml']],
]) {
  await stage(
    `manifests-${name}`,
    () =>
      needKit('manifests') ??
      tools.missing('kubectl') ??
      withServer([], (info) =>
        judge(
          process.execPath,
          [
            'check.mjs',
            '--server',
            info.url,
            '--token',
            info.token,
            '--kubectl',
            tools.kubectl,
            '--recorded',
            '../manifests-recorded',
            ...files,
          ],
          { cwd: join(kits, 'manifests') },
        ),
      ),
  );
}
await stage(
  'kubectl-tour',
  () =>
    needKit('clients') ??
    tools.missing('kubectl', 'helm') ??
    withServer([], (info) =>
      judge('bash', [
        join(kits, 'clients/kubectl-tour.sh'),
        '--server',
        info.url,
        '--token',
        info.token,
        '--kubectl',
        tools.kubectl,
        '--helm',
        tools.helm,
      ]),
    ),
);
await stage(
  'client-go',
  () =>
    needKit('clients') ??
    tools.missing('gointerop') ??
    withServer([], (info) => judge(tools.gointerop, ['--server', info.url, '--token', info.token])),
);

rmSync(work, { recursive: true, force: true });
console.log(`\n${summary.join('\n')}\n`);
console.log(`${totals.passed} passed, ${totals.failed} failed`);
process.exit(totals.failed > 0 || totals.passed === 0 ? 1 : 0);
