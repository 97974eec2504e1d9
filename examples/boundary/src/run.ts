// One run from start to exit code.
import { setMaxListeners } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { DiscoveredResource, KubeClient } from '@kube-rx/informer';
import { SharedInformerFactory } from '@kube-rx/informer';
import { messageOf } from './api-error.ts';
import { Changes } from './changes.ts';
import { connectTo } from './cluster.ts';
import type { FaultName, Output, Summary } from './events.ts';
import { Fleet } from './fleet.ts';
import { chooseKinds } from './kinds.ts';
import { describeProblem, type LoadedObject, loadManifests } from './load.ts';
import { type Manifests, readManifests } from './manifests.ts';
import { Network } from './network.ts';
import type { BoundaryOptions, ClusterOptions } from './options.ts';
import { OwnServer } from './own-server.ts';
import { seededRandom } from './random.ts';
import type { ConfigMapObject } from './sample-objects.ts';
import { playScene, SCENES, type Stage } from './scenes.ts';

const SAMPLES = fileURLToPath(new URL('../manifests', import.meta.url));
const SYNC_MS = 60_000;
const BETWEEN_SCENES_MS = 500;
const SCENE_MS = 4_000;

// Quick, so that the show goes on. A cluster gets a little more peace; the library's defaults grow to 30 s.
const OWN_BACKOFF = { initialMs: 200, maxMs: 1_000, resetMs: 5_000 };
const CLUSTER_BACKOFF = { initialMs: 500, maxMs: 5_000, resetMs: 30_000 };

export interface RunContext {
  readonly output: Output;
  /** Called once there is a fleet to look at. */
  readonly onFleet: (fleet: Fleet) => void;
  /** For errors of the manifests, which are no events of the run. */
  readonly warn: (line: string) => void;
  /** Aborted by the user: ends the run early, with the verification. */
  readonly signal: AbortSignal;
  /** Quiet time between two faults, in ms. Default 500. */
  readonly pauseMs?: number;
}

/** Resolves with the exit code; rejects with a UsageError for what the user can put right before anything runs. */
export function run(options: BoundaryOptions, context: RunContext): Promise<number> {
  return options.cluster === undefined ? runOwn(options, context) : runCluster(options, options.cluster, context);
}

async function runCluster(options: BoundaryOptions, cluster: ClusterOptions, context: RunContext): Promise<number> {
  const { output, signal } = context;
  const startedAt = Date.now();
  await using client = await connectTo(cluster);
  const { server } = client.rest;
  output.tell({ event: 'started', server, version: await versionOf(client, server, signal) });
  const kinds = await chooseKinds(client, options.kinds, signal);
  await using watching = await startFleet({ watch: client, list: client, backoff: CLUSTER_BACKOFF }, kinds, context);
  const deadline = options.seconds === undefined ? undefined : startedAt + options.seconds * 1_000;
  await until(deadline, signal);
  return await finish(watching.fleet, context, startedAt, {
    faults: noFaults(),
    recoveries: 0,
    failures: 0,
    problems: 0,
  });
}

async function runOwn(options: BoundaryOptions, context: RunContext): Promise<number> {
  const { output, signal, warn } = context;
  const startedAt = Date.now();
  const manifests: Manifests = readManifests(options.manifests.length > 0 ? options.manifests : [SAMPLES]);
  await using server = await OwnServer.start({ port: options.port });
  await using network = await Network.open(server.port);
  await using connection = server.connect(network.port);
  output.tell({
    event: 'started',
    server: server.url,
    version: await versionOf(server.client, server.url, signal),
    through: connection.rest.server,
    kubeconfig: server.kubeconfig,
  });
  const loaded = await loadManifests(server.client, manifests.objects, signal);
  const problems = [...manifests.problems, ...loaded.problems];
  for (const problem of problems) {
    warn(describeProblem(problem));
    output.tell({ event: 'problem', message: describeProblem(problem) });
  }
  const kindCount = new Set(loaded.objects.map(({ type }) => type.kind)).size;
  output.tell({ event: 'loaded', objects: loaded.objects.length, kinds: kindCount, problems: problems.length });

  const { discovery } = server.client;
  const configMaps = await discovery.findKind<ConfigMapObject>('v1', 'ConfigMap');
  const events = await discovery.findKind('v1', 'Event');
  const kinds = await chooseKinds(server.client, options.kinds, signal);
  await using watching = await startFleet(
    { watch: connection, list: server.client, backoff: OWN_BACKOFF },
    kinds,
    context,
  );
  const { fleet } = watching;

  await using changes = new Changes({
    client: server.client,
    objects: touchable(loaded.objects),
    configMaps,
    random: seededRandom(options.seed),
    onProblem: (message) => output.tell({ event: 'problem', message }),
  });
  changes.start();
  const deadline = options.seconds === undefined ? undefined : startedAt + options.seconds * 1_000;
  const stage: Stage = { server, network, fleet, changes, output, configMaps, events, signal };
  const played = await playUntil(deadline, stage, context.pauseMs ?? BETWEEN_SCENES_MS);
  await changes.stop();
  return await finish(fleet, context, startedAt, { ...played, problems: problems.length });
}

async function startFleet(
  clients: { readonly watch: KubeClient; readonly list: KubeClient; readonly backoff: typeof OWN_BACKOFF },
  kinds: readonly DiscoveredResource[],
  { output, onFleet, signal }: RunContext,
): Promise<AsyncDisposable & { readonly fleet: Fleet }> {
  const factory = new SharedInformerFactory(clients.watch, { backoff: clients.backoff });
  const fleet = new Fleet(clients.list, output);
  for (const type of kinds) fleet.add(type, factory.informer(type));
  onFleet(fleet);
  const patience = AbortSignal.any([signal, AbortSignal.timeout(SYNC_MS)]);
  // One signal for many informers is no leak.
  setMaxListeners(0, patience);
  await fleet.whenSynced(patience);
  return { fleet, [Symbol.asyncDispose]: () => factory[Symbol.asyncDispose]() };
}

/** Scene after scene, round and round; the one that runs when the time is over is played to its end. */
async function playUntil(deadline: number | undefined, stage: Stage, pauseMs: number): Promise<Played> {
  const faults = noFaults();
  let recoveries = 0;
  let failures = 0;
  const watched = stage.fleet.marks();
  const playable = SCENES.filter((scene) => scene.gone.every((kind) => watched.has(kind)));
  const isOver = (): boolean => stage.signal.aborted || (deadline !== undefined && Date.now() >= deadline);
  try {
    for (let turn = 0; !isOver(); turn++) {
      await until(Math.min(deadline ?? Number.POSITIVE_INFINITY, Date.now() + pauseMs), stage.signal);
      if (isOver()) break;
      // What was shown once already is not begun when it would hardly come to its end in time.
      if (turn >= playable.length && deadline !== undefined && deadline - Date.now() < SCENE_MS) {
        await until(deadline, stage.signal);
        break;
      }
      const scene = playable[turn % playable.length]!;
      faults[scene.fault]++;
      if (await playScene(scene, stage)) recoveries++;
      else failures++;
    }
  } catch (error) {
    if (!stage.signal.aborted) throw error;
  }
  return { faults, recoveries, failures };
}

interface Played {
  readonly faults: Record<FaultName, number>;
  readonly recoveries: number;
  readonly failures: number;
}

async function finish(
  fleet: Fleet,
  { output }: RunContext,
  startedAt: number,
  { faults, recoveries, failures, problems }: Played & { readonly problems: number },
): Promise<number> {
  const consistent = await fleet.verify();
  const summary: Summary = {
    consistent,
    informers: fleet.size,
    ...fleet.totals(),
    faults,
    recoveries,
    manifestProblems: problems,
    seconds: (Date.now() - startedAt) / 1_000,
  };
  output.end(summary);
  return consistent && failures === 0 && problems === 0 ? 0 : 1;
}

async function versionOf(client: KubeClient, server: string, signal: AbortSignal): Promise<string> {
  try {
    const { gitVersion } = await client.discovery.serverVersion({ signal });
    return gitVersion;
  } catch (error) {
    throw new Error(`cannot reach ${server}: ${messageOf(error)}`, { cause: error });
  }
}

/** Resolves at that time, or when the signal is aborted. */
async function until(deadline: number | undefined, signal: AbortSignal): Promise<void> {
  const leftMs = deadline === undefined ? 2 ** 31 - 1 : Math.max(deadline - Date.now(), 0);
  await sleep(leftMs, undefined, { signal }).catch(() => {});
}

/** Definitions and namespaces are left in peace: changing them disturbs more than themselves. */
function touchable(objects: readonly LoadedObject[]): LoadedObject[] {
  return objects.filter(({ type }) => type.kind !== 'CustomResourceDefinition' && type.kind !== 'Namespace');
}

function noFaults(): Record<FaultName, number> {
  return { 'connection-cut': 0, 'window-slid': 0, 'compaction-watch': 0, 'compaction-list': 0, restart: 0 };
}
