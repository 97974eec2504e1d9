// Stages of .ci/run. Each returns {passed, failed}; a stage that cannot run for a stated reason says so and counts nothing.
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { needSystem, provision } from './ci-provision.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const work = mkdtempSync(join(tmpdir(), 'kube-rx-ci-'));
// The recorded contracts and client drivers are laid beside the checkout; without them those stages say so.
const kits = resolve(root, process.env.KUBE_RX_KITS ?? '../shared');
const only = process.argv.slice(2);
/** Stages that take too long for every run: they have to be named. */
const ON_DEMAND = new Set(['long']);
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
  if (only.length > 0 ? !only.includes(name) : ON_DEMAND.has(name)) return;
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
    withServer([], (info) => contract(info, '--have', 'protobuf,metrics,no-namespace-controller,admission-policy')),
);
await stage(
  'contract-http2',
  () =>
    needKit('contract') ??
    withServer([], (info) => contract(info, '--http', '2', '--no-slow', '--only', 'watch/*,list/*,get/*')),
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
    withServer([], (info) =>
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
/** Runs tests of one package, on another Node when given. */
function vitest(folder, filters, node = process.execPath, env = {}) {
  const results = mkdtempSync(join(work, 'results-'));
  const result = run(node, [join(root, 'node_modules/vitest/vitest.mjs'), 'run', ...filters], {
    cwd: join(root, folder),
    env: { ...process.env, KUBE_RX_TEST_RESULTS: results, ...env },
  });
  if (result.status !== 0) console.log(`${result.stdout}${result.stderr}`.split('\n').slice(-80).join('\n'));
  const counts = addReports(results, { passed: 0, failed: 0 });
  return result.status !== 0 && counts.failed === 0 ? { ...counts, failed: 1 } : counts;
}
const addAll = (counts) => ({
  passed: counts.reduce((sum, { passed }) => sum + passed, 0),
  failed: counts.reduce((sum, { failed }) => sum + failed, 0),
});
const needTools = (...names) => needKit('clients') ?? tools.missing(...names);
const yamlsIn = (folder) =>
  readdirSync(join(kits, 'manifests', folder))
    .filter((file) => file.endsWith('.yaml'))
    .sort()
    .map((file) => `${folder}/${file}`);
/** kubectl applies real manifests; what it says and what is stored is compared with a recording. */
const manifests = (info, recorded, ...args) => {
  const target = ['--server', info.url, '--token', info.token, '--kubectl', tools.kubectl, '--recorded', recorded];
  return judge(process.execPath, ['check.mjs', ...target, ...args], { cwd: join(kits, 'manifests') });
};
for (const [name, namespace] of Object.entries({ 'microservices-demo': 'demo', guestbook: 'guest' })) {
  const apply = (info) => manifests(info, '../manifests-recorded', '--ns', namespace, `${name}.yaml`);
  await stage(`manifests-${name}`, () => needTools('kubectl') ?? withServer([], apply));
}
await stage('manifests-gateway-api', () => {
  const apply = (info) => {
    const kinds = manifests(info, '../manifests-recorded', '--mode', 'ssa', ...yamlsIn('gateway-api'));
    const recorded = '../manifests-recorded/gateway-api-examples';
    const examples = manifests(info, recorded, '--ns', 'gwex', ...yamlsIn('gateway-api-examples'));
    return { passed: kinds.passed + examples.passed, failed: kinds.failed + examples.failed };
  };
  return needTools('kubectl') ?? withServer([], apply);
});
await stage('kubectl-tour', () => {
  const tour = join(kits, 'clients/kubectl-tour.sh');
  const walk = ({ url, token }) =>
    judge('bash', [tour, '--server', url, '--token', token, '--kubectl', tools.kubectl, '--helm', tools.helm]);
  return needTools('kubectl', 'helm') ?? withServer([], walk);
});
await stage('client-go', () => {
  const drive = ({ url, token }) => {
    const compact = `curl -sk -X POST -H 'Authorization: Bearer ${token}' ${url}/_fake/compact -d '{}'`;
    return judge(tools.gointerop, ['--server', url, '--token', token, '--compact-cmd', compact]);
  };
  return needTools('gointerop') ?? withServer([], drive);
});
for (const version of ['22.23.5', '24.22.3']) {
  const major = version.split('.')[0];
  await stage(`node-${major}`, () => {
    const node = tools.node(version);
    if (node === undefined) return { skipped: `Node ${version} could not be installed` };
    return addAll(['apimachinery', 'informer', 'fake-apiserver'].map((name) => vitest(`packages/${name}`, [], node)));
  });
}
for (const [version, nodeVersion] of Object.entries({ '1.4.0': undefined, '2.0.1': '24.22.3' })) {
  await stage(`client-node-${version.split('.')[0]}`, () => {
    const folder = tools.npmPackage(`@kubernetes/client-node@${version}`);
    const node = nodeVersion === undefined ? process.execPath : tools.node(nodeVersion);
    if (folder === undefined || node === undefined)
      return { skipped: 'client-node or its Node could not be installed' };
    return withServer([], ({ kubeconfig }) => judge(node, ['interop/client-node/checks.mjs', kubeconfig, folder]));
  });
}
await stage(
  'real-etcd',
  () => needSystem('etcd', 'etcd-server') ?? vitest('packages/fake-apiserver', ['src/etcd/remote']),
);
await stage(
  'browser',
  () => needSystem('chromium', 'chromium') ?? vitest('interop/client-server', ['test/browser.test.ts']),
);

/** Both command lines against a server that misbehaves for so long. */
function endure(seconds, ...args) {
  const build = run('npm', ['run', 'build']);
  if (build.status !== 0) console.log(`${build.stdout}${build.stderr}`);
  return judge(process.execPath, ['interop/endurance/dist/main.js', '--seconds', String(seconds), ...args]);
}
await stage('endurance', () => endure(40, '--tls'));
await stage('long', () =>
  addAll([
    // Chunks of 250 inputs; what fails is kept in the folder and tried first from then on.
    vitest('interop/client-server', ['property'], process.execPath, { RUNS: '10000' }),
    endure(600),
  ]),
);

rmSync(work, { recursive: true, force: true });
console.log(`\n${summary.join('\n')}\n`);
console.log(`${totals.passed} passed, ${totals.failed} failed`);
process.exit(totals.failed > 0 || totals.passed === 0 ? 1 : 0);
