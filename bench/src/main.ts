// Runs the measures on our server, and on what else is at hand; prints the budgets.
import { fileURLToPath } from 'node:url';
import { readBudgets } from './budgets.ts';
import { installClientNode } from './client-node.ts';
import { median } from './figures.ts';
import { BIG_NAMESPACE, createObjects, SMALL_NAMESPACE } from './load.ts';
import { fanOut } from './measures/fan-out.ts';
import { idle } from './measures/idle.ts';
import { type InformerFigures, type InformerProgram, runInformer } from './measures/informer.ts';
import { list } from './measures/list.ts';
import type { Figures, Measure, MeasureContext } from './measures/measure.ts';
import { startInProcessMs } from './measures/start-in-process.ts';
import { updates } from './measures/updates.ts';
import { SMALL_COUNT, watchStart } from './measures/watch-start.ts';
import { type BenchOptions, HELP, parseOptions } from './options.ts';
import { RawClient } from './raw-client.ts';
import { jsonLine, type Result, table } from './report.ts';
import { startOwnServer, type Target } from './target.ts';

const SERVER_MEASURES: readonly (readonly [string, Measure])[] = [
  ['list', list],
  ['watch', watchStart],
  ['updates', updates],
  ['fan-out', fanOut],
  ['idle', idle],
];
/** Many, so that the time in which programs warm up does not count for much; fewer in a quick run. */
const INFORMER_UPDATES = 20_000;
const QUICK_UPDATES = 5_000;
const QUICK_OBJECTS = 10_000;
/** As fast as the server of the recorded reference took them, and over TLS as there: nearly every event wakes the client. */
const SINGLE_EVENTS_PER_SECOND = 1_000;
const SINGLE_EVENTS_OBJECTS = 5_000;
const INFORMER_RUNS = 3;
const START_RUNS = 3;

const log = (line: string): void => void process.stderr.write(`${line}\n`);

async function main(argv: readonly string[]): Promise<void> {
  const options = parseOptions(argv);
  if (options === undefined) {
    process.stdout.write(HELP);
    return;
  }
  const wants = (name: string): boolean => options.only.length === 0 || options.only.includes(name);
  const ours: Record<string, number | undefined> = {};
  const references = new Map<string, { readonly value: number | undefined; readonly name: string }>();
  const refer = (figures: Figures, name: string): void => {
    for (const [id, value] of Object.entries(figures)) references.set(id, { value, name });
  };

  if (wants('start')) {
    const starts: number[] = [];
    for (let run = 0; run < START_RUNS; run++) {
      await using server = await startOwnServer();
      starts.push(server.startMs);
    }
    ours['start'] = median(starts);
    ours['start-in-process'] = await startInProcessMs();
    refer({ 'start-in-process': 100 }, 'the promise');
  }
  {
    await using server = await startOwnServer();
    using client = new RawClient(server);
    const context: MeasureContext = {
      target: server,
      client,
      objects: options.objects,
      watchers: options.watchers,
      log,
    };
    await load(context);
    // First, so that the programs meet the same list as the reference programs do.
    if (wants('informer')) await informers(context, options, ours, refer);
    Object.assign(ours, await measureServer(context, wants));
    refer({ growth: 2 }, 'linear');
  }
  if (wants('informer')) await singleEvents(options, ours, refer);
  if (options.reference !== undefined) {
    const target: Target = { ...options.reference, name: 'reference' };
    using client = new RawClient(target);
    const context: MeasureContext = { target, client, objects: options.objects, watchers: options.watchers, log };
    await load(context);
    const { growth: _, ...figures } = await measureServer(context, wants);
    refer(figures, target.name);
  }
  const results: Result[] = readBudgets()
    .filter(({ id }) => ours[id] !== undefined)
    .map((budget) => {
      const reference = references.get(budget.id);
      return { budget, ours: ours[budget.id], reference: reference?.value, referenceName: reference?.name };
    });
  for (const result of options.json ? results : []) process.stdout.write(`${jsonLine(result)}\n`);
  if (!options.json) {
    log('');
    process.stdout.write(
      `${options.objects} objects, ${options.watchers} watchers, Node ${process.version}\n\n${table(results)}\n`,
    );
  }
}

async function load(context: MeasureContext): Promise<void> {
  const startedAt = performance.now();
  await createObjects(context.client, SMALL_NAMESPACE, 0, SMALL_COUNT);
  await createObjects(context.client, BIG_NAMESPACE, 0, context.objects);
  const seconds = (performance.now() - startedAt) / 1_000;
  log(`${context.target.name}: ${context.objects} objects created in ${seconds.toFixed(1)} s`);
}

async function measureServer(context: MeasureContext, wants: (name: string) => boolean): Promise<Figures> {
  const figures: Record<string, number | undefined> = {};
  for (const [key, measure] of SERVER_MEASURES) {
    if (!wants(key)) continue;
    const startedAt = performance.now();
    try {
      Object.assign(figures, await measure.run(context));
      log(`${context.target.name}: ${measure.name} (${((performance.now() - startedAt) / 1_000).toFixed(1)} s)`);
    } catch (error) {
      log(`${context.target.name}: ${measure.name} failed: ${(error as Error).message}`);
      process.exitCode = 1;
    }
  }
  return figures;
}

async function informers(
  context: MeasureContext,
  options: BenchOptions,
  ours: Record<string, number | undefined>,
  refer: (figures: Figures, name: string) => void,
): Promise<void> {
  const own = ownInformer();
  const { clientNode, goClient } = otherInformers(options);
  const compact: InformerProgram = {
    ...own,
    name: 'kube-rx, compact',
    command: [...own.command, '--storage', 'compact'],
  };
  const floor: InformerProgram = {
    name: 'node:http and JSON.parse',
    command: [process.execPath, '--expose-gc', fileURLToPath(new URL('../floor.js', import.meta.url))],
  };
  const programs = [own, compact, floor, clientNode, goClient].filter((one) => one !== undefined);
  const updates = context.objects > QUICK_OBJECTS ? INFORMER_UPDATES : QUICK_UPDATES;
  const rounds = clientNode === undefined && goClient === undefined ? 1 : INFORMER_RUNS;
  const runs = await inTurns(programs, rounds, async (one) => {
    const figures = await runInformer(context, one, { count: one === compact ? 0 : updates });
    if (figures.sync_ms > 0) log(`${one.name}: informer synced in ${figures.sync_ms.toFixed(0)} ms`);
    return figures;
  });
  const figures = informerFigures(runs.get(own)!);
  Object.assign(ours, figures, {
    'sync-go': figures['sync'],
    'event-cpu-go': figures['event-cpu'],
    'event-cpu-floor': figures['event-cpu'],
    'sync-heap-compact': informerFigures(runs.get(compact)!)['sync-heap'],
  });
  refer({ 'sync-stall': await parseMs(context) }, 'JSON.parse');
  refer({ 'event-cpu-floor': informerFigures(runs.get(floor)!)['event-cpu'] }, floor.name);
  if (goClient !== undefined) {
    const { sync, 'sync-heap': heap, 'event-cpu': cpu } = informerFigures(runs.get(goClient)!);
    refer({ 'sync-go': sync, 'sync-heap': heap, 'sync-heap-compact': heap, 'event-cpu-go': cpu }, goClient.name);
  }
  if (clientNode !== undefined) {
    const { sync, 'sync-rss': rss, 'event-cpu': cpu } = informerFigures(runs.get(clientNode)!);
    refer({ sync, 'sync-rss': rss, 'event-cpu': cpu }, clientNode.name);
  }
}

/** What an event costs that comes alone, as events of a cluster do: each update is sent and read by itself. From the reference when there is one. */
async function singleEvents(
  options: BenchOptions,
  ours: Record<string, number | undefined>,
  refer: (figures: Figures, name: string) => void,
): Promise<void> {
  await using own = options.reference === undefined ? await startOwnServer({ tls: true }) : undefined;
  const target: Target = own ?? { ...options.reference!, name: 'reference' };
  using client = new RawClient(target);
  const context = { target, client, objects: SINGLE_EVENTS_OBJECTS };
  await createObjects(client, BIG_NAMESPACE, 0, SINGLE_EVENTS_OBJECTS);
  const informer = ownInformer();
  const { clientNode, goClient } = otherInformers(options);
  const programs = [informer, clientNode, goClient].filter((one) => one !== undefined);
  const count = options.objects > QUICK_OBJECTS ? INFORMER_UPDATES : QUICK_UPDATES;
  const runs = await inTurns(programs, programs.length === 1 ? 1 : INFORMER_RUNS, (one) =>
    runInformer(context, one, { count, perSecond: SINGLE_EVENTS_PER_SECOND }),
  );
  log(`informers: single events of ${target.name}`);
  const cpuOf = (one: InformerProgram): number | undefined => informerFigures(runs.get(one)!)['event-cpu'];
  Object.assign(ours, { 'single-event-cpu': cpuOf(informer), 'single-event-cpu-go': cpuOf(informer) });
  if (clientNode !== undefined) refer({ 'single-event-cpu': cpuOf(clientNode) }, clientNode.name);
  if (goClient !== undefined) refer({ 'single-event-cpu-go': cpuOf(goClient) }, goClient.name);
}

/** So that a busy moment of the machine does not hit one of them alone. */
async function inTurns(
  programs: readonly InformerProgram[],
  rounds: number,
  measure: (program: InformerProgram) => Promise<InformerFigures>,
): Promise<ReadonlyMap<InformerProgram, readonly InformerFigures[]>> {
  const runs = new Map(programs.map((one) => [one, [] as InformerFigures[]]));
  for (let round = 0; round < rounds; round++) {
    for (const one of programs) runs.get(one)!.push(await measure(one));
  }
  return runs;
}

function ownInformer(): InformerProgram {
  const program = fileURLToPath(new URL('../informer.js', import.meta.url));
  return { name: 'kube-rx', command: [process.execPath, '--expose-gc', program] };
}

interface OtherInformers {
  readonly clientNode: InformerProgram | undefined;
  readonly goClient: InformerProgram | undefined;
}

function otherInformers({ withClientNode, goClient: command }: BenchOptions): OtherInformers {
  return {
    clientNode: withClientNode ? installClientNode() : undefined,
    goClient: command === undefined ? undefined : { name: 'client-go', command },
  };
}

/** Medians of the runs. */
function informerFigures(runs: readonly InformerFigures[]): Figures {
  const of = (value: (figures: InformerFigures) => number | undefined): number | undefined => {
    const values = runs.map(value).filter((one) => one !== undefined);
    return values.length === 0 ? undefined : median(values);
  };
  return {
    sync: of((figures) => figures.sync_ms),
    'sync-rss': of((figures) => figures.peak_rss_mib),
    'sync-heap': of((figures) => figures.heap_bytes_per_object),
    'sync-stall': of((figures) => figures.stall_ms),
    'event-cpu': of(({ burst_cpu_s: cpu, events }) =>
      cpu === undefined || events === undefined ? undefined : (cpu / events) * 1e6,
    ),
  };
}

async function parseMs({ client }: MeasureContext): Promise<number> {
  const body = await client.call('GET', `/api/v1/namespaces/${BIG_NAMESPACE}/configmaps?resourceVersion=0`);
  const samples: number[] = [];
  for (let run = 0; run < 3; run++) {
    const startedAt = performance.now();
    JSON.parse(body.toString('utf8'));
    samples.push(performance.now() - startedAt);
  }
  return median(samples);
}

try {
  await main(process.argv.slice(2));
} catch (error) {
  log(`bench: ${(error as Error).message}`);
  process.exitCode = 1;
}
