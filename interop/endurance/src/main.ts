// Runs both command lines against a server that misbehaves every few seconds, and says whether they came out right.
// Ends with one line "N passed, N failed"; exit code 1 when anything failed.
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { createClient, type KubeClient } from '@kube-rx/informer';
import { seededRandom } from '@kube-rx/testkit';
import { Child } from './child.ts';
import { Churn } from './churn.ts';
import { type AnyStored, differences, FollowedState } from './followed-state.ts';
import { HostileServer } from './hostile-server.ts';
import { CHURNED, groupResource, WIDGETS_DEFINITION } from './resources.ts';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
const NAMESPACES = ['churn-a', 'churn-b'];
const HELP = `node interop/endurance/dist/main.js [--seconds N] [--seed N] [--tls] [--pause MS] [--transport T]

  --seconds N   how long the server misbehaves (default 40)
  --seed N      of what happens (default: the time)
  --tls         over TLS; then a crash keeps the server's memory
  --transport T how kube-informer speaks: http, http2 or websocket (default http)
  --pause MS    longest pause between two faults (default 4000)
`;
const START_MS = 60_000;
/** For what was broken last to be mended. The boundary, which ends by itself, is given more. */
const HEAL_MS = 20_000;
const BOUNDARY_MORE_MS = 45_000;
const WRITES_PER_SECOND = 25;

interface Settings {
  readonly seconds: number;
  readonly seed: number;
  readonly tls: boolean;
  readonly pauseMs: number;
  readonly transport: string;
}

class Verdict {
  passed = 0;
  failed = 0;

  check(what: string, problems: readonly string[]): void {
    const ok = problems.length === 0;
    if (ok) this.passed++;
    else this.failed++;
    console.log(`${ok ? 'ok  ' : 'FAIL'} ${what}`);
    for (const problem of problems) console.log(`     ${problem}`);
  }
}

async function run({ seconds, seed, tls, pauseMs, transport }: Settings): Promise<Verdict> {
  const random = seededRandom(seed);
  const verdict = new Verdict();
  const resources = CHURNED.filter(({ cached }) => cached).map(({ type }) => groupResource(type));
  await using server = await HostileServer.start({ tls, random, resources });
  await using client = createClient(
    { server: server.directUrl, token: server.token, ca: server.ca },
    { maxRetries: 0 },
  );
  await prepare(client);
  const churn = new Churn({
    client,
    churned: CHURNED,
    namespaces: NAMESPACES,
    random: seededRandom(seed + 1),
    writesPerSecond: WRITES_PER_SECOND,
  });
  const stop = new AbortController();
  const churning = churn.run(stop.signal);

  const followed = new FollowedState();
  const trust = server.caFile === undefined ? [] : ['--certificate-authority', server.caFile];
  await using watch = new Child({
    command: process.execPath,
    args: [
      'packages/informer/bin/kube-informer.js',
      ...['watch', ...CHURNED.map(({ name }) => name), '--all-namespaces', '--initial', '--json'],
      ...['--server', server.url, '--token', server.token, '--transport', transport],
      ...trust,
    ],
    cwd: ROOT,
    onLine: (line) => followed.read(line),
  });
  const told: { consistent?: boolean; synced: number; last: string } = { synced: 0, last: '' };
  const boundaryMs = seconds * 1_000 + BOUNDARY_MORE_MS;
  await using boundary = new Child({
    command: 'npm',
    args: [
      ...['start', '--silent', '--', '--server', server.url, '--token', server.token],
      ...trust,
      ...['--seconds', String(boundaryMs / 1_000), '--json'],
    ],
    cwd: ROOT,
    onLine: (line) => {
      if (line.includes('"event":"synced"')) told.synced++;
      told.last = line;
    },
  });
  const startedAt = Date.now();
  const ready = (): boolean => followed.synced.size === CHURNED.length && told.synced >= CHURNED.length;
  await until(() => ready() || watch.ended || boundary.ended, START_MS);
  console.log(`seed ${seed}, both ready after ${((Date.now() - startedAt) / 1_000).toFixed(1)} s`);
  verdict.check(
    'both command lines get their first lists',
    ready() ? [] : [...watch.errors, ...boundary.errors, told.last],
  );

  const end = Math.min(Date.now() + seconds * 1_000, startedAt + boundaryMs - HEAL_MS);
  while (Date.now() < end && !watch.ended && !boundary.ended) {
    await sleep(200 + random() * pauseMs);
    await server.act();
  }
  server.calm();
  const calmAt = Date.now();
  stop.abort();
  await churning;
  const final = await serverState(client);
  await until(() => differences(followed.objects, final).length === 0 || watch.ended, HEAL_MS);
  const healedMs = Date.now() - calmAt;

  const watches = await server.watches();
  // One of each of the two.
  const many = resources.filter((name) => (watches.get(name) ?? 0) > 2);
  verdict.check(
    'neither leaves watches behind on the server',
    many.map((name) => `${name}: ${watches.get(name)}`),
  );
  verdict.check('kube-informer watch knows every object in its last state', differences(followed.objects, final));
  verdict.check('kube-informer watch told the changes of each object in order', followed.problems.slice(0, 10));
  verdict.check('kube-informer watch is still there', watch.ended ? [...watch.errors.slice(-5)] : []);
  watch.signal('SIGTERM');
  verdict.check('kube-informer watch ends with exit code 0', codeIs(await watch.exited, 0, watch));
  verdict.check('npm start -- --server is still there', boundary.ended ? [...boundary.errors.slice(-5)] : []);
  verdict.check('npm start -- --server ends with exit code 0', codeIs(await boundary.exited, 0, boundary));
  const summary = parse(told.last);
  verdict.check(
    'npm start -- --server says that every cache equals a fresh list',
    summary['consistent'] === true ? [] : [told.last],
  );
  verdict.check('the writer met nothing that a fault does not explain', [...churn.problems].slice(0, 5));
  console.log(
    `\nobjects ${final.size}, writes ${churn.writes}, lost or refused ${churn.failed}, equal ${(healedMs / 1_000).toFixed(1)} s after the last fault`,
  );
  console.log(`faults ${text(server.counts)}`);
  console.log(`kube-informer ${text(followed.counts)}`);
  console.log(`npm start ${told.last}`);
  return verdict;
}

async function prepare(client: KubeClient): Promise<void> {
  const post = (path: string, body: object): Promise<unknown> => client.rest.json({ method: 'POST', path, body });
  for (const name of NAMESPACES) await post('/api/v1/namespaces', { metadata: { name } });
  await post('/apis/apiextensions.k8s.io/v1/customresourcedefinitions', WIDGETS_DEFINITION);
  await until(async () => {
    const list = await client.rest.json({ path: '/apis/example.com/v1/widgets' }).catch(() => undefined);
    return list !== undefined;
  }, START_MS);
}

async function serverState(client: KubeClient): Promise<Map<string, AnyStored>> {
  const state = new Map<string, AnyStored>();
  for (const { type, name } of CHURNED) {
    const { items } = await client.resource(type).list();
    for (const item of items) state.set(`${name} ${item.metadata.namespace ?? ''}/${item.metadata.name}`, item);
  }
  return state;
}

async function until(condition: () => boolean | Promise<boolean>, withinMs: number): Promise<void> {
  const end = Date.now() + withinMs;
  while (!(await condition()) && Date.now() < end) await sleep(100);
}

const codeIs = (code: number | undefined, wanted: number, { errors }: Child): string[] =>
  code === wanted ? [] : [`exit code ${code}`, ...errors.slice(-5)];

function parse(line: string): Record<string, unknown> {
  try {
    return JSON.parse(line) as Record<string, unknown>;
  } catch {
    return {};
  }
}

const text = (counts: ReadonlyMap<string, number>): string =>
  [...counts]
    .sort()
    .map(([what, count]) => `${what} ${count}`)
    .join(', ');

const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '40' },
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
    pause: { type: 'string', default: '4000' },
    tls: { type: 'boolean', default: false },
    transport: { type: 'string', default: 'http' },
    help: { type: 'boolean', default: false },
  },
});
if (values.help) {
  console.log(HELP);
} else {
  const { passed, failed } = await run({
    seconds: Number(values.seconds),
    seed: Number(values.seed),
    tls: values.tls,
    pauseMs: Number(values.pause),
    transport: values.transport,
  });
  console.log(`\n${passed} passed, ${failed} failed`);
  process.exitCode = failed === 0 ? 0 : 1;
}
