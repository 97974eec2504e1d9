// `kube-informer watch`: informers of the asked resources, printed until the signal.
import type { Clock, KubernetesObject } from '@kube-rx/apimachinery';
import { OptionsError, sleep } from '@kube-rx/apimachinery';
import type { DiscoveredResource } from '../client/discovery-parse.ts';
import type { KubeClient } from '../client/kube-client.ts';
import { isTransportError } from '../errors.ts';
import { BackoffManager } from '../reflector/backoff-manager.ts';
import type { InformerStatus } from '../reflector/informer-status.ts';
import type { Informer } from '../shared-informer/informer.ts';
import { SharedInformerFactory } from '../shared-informer/shared-informer-factory.ts';
import type { WatchArguments } from './arguments.ts';
import { explainStatus } from './explain.ts';
import type { Output } from './output.ts';

export interface WatchCommandOptions {
  readonly client: KubeClient;
  /** Namespaces when the command line names none. */
  readonly defaultNamespace: string;
  readonly output: Output;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** Says that the server cannot be reached yet. */
  readonly warn: (text: string) => void;
}

// Somebody is looking, and it is one client: no need to be as shy as a fleet of controllers.
const BACKOFF = { maxMs: 3_000, jitter: 0.3, resetMs: 20_000 };

interface Wanted {
  readonly resource: DiscoveredResource;
  readonly name: string | undefined;
}

/** Resolves when the signal aborts and everything is released. Rejects when a resource does not exist. */
export async function watchCommand(args: WatchArguments, options: WatchCommandOptions): Promise<void> {
  const { client, clock, output, signal } = options;
  const wanted = await reachable(() => findAll(args.resources, client, signal), options);
  if (wanted === undefined) return;
  const factory = new SharedInformerFactory(client, { clock, initial: args.initial, backoff: BACKOFF, lingerMs: 0 });
  try {
    for (const { resource, name } of wanted) {
      const namespaces = args.allNamespaces
        ? []
        : args.namespaces.length > 0
          ? args.namespaces
          : [options.defaultNamespace];
      const fields = [args.fieldSelector, name === undefined ? undefined : `metadata.name=${name}`].filter(Boolean);
      const informer = factory.informer<KubernetesObject>(resource, {
        namespaces: resource.scope === 'Namespaced' ? namespaces : [],
        labelSelector: args.labelSelector,
        fieldSelector: fields.length === 0 ? undefined : fields.join(','),
        metadataOnly: args.metadataOnly,
      });
      const title = name === undefined ? resource.plural : `${resource.plural}/${name}`;
      print(informer, title, args, output, clock);
    }
    await aborted(signal);
  } finally {
    await factory[Symbol.asyncDispose]();
  }
}

function print(
  informer: Informer<KubernetesObject>,
  title: string,
  args: WatchArguments,
  output: Output,
  clock: Clock,
): void {
  let previous: InformerStatus | undefined;
  let listed = false;
  informer.faults$.subscribe((fault) => output.fault(title, fault));
  if (args.explain) {
    informer.status$.subscribe((status) => {
      const text = explainStatus(status, previous, listed, clock.now());
      if (status.phase === 'listing' || status.phase === 'streaming-initial') listed = true;
      previous = status;
      if (text !== undefined) output.status(title, text);
    });
  }
  informer.handle((event) => output.event(title, event), { buffer: 'unbounded' });
}

async function findAll(names: readonly string[], client: KubeClient, signal: AbortSignal): Promise<Wanted[]> {
  const wanted: Wanted[] = [];
  for (const given of names) {
    const [resourceName = '', name, ...more] = given.split('/');
    if (more.length > 0 || name === '') throw new OptionsError('RESOURCE', given, 'RESOURCE or RESOURCE/NAME');
    const category = await client.discovery.category(resourceName, { signal });
    if (category.length > 0) {
      wanted.push(...category.filter(isWatchable).map((resource) => ({ resource, name })));
      continue;
    }
    const resource = await client.discovery.find(resourceName, { signal });
    if (!isWatchable(resource)) throw new OptionsError('RESOURCE', given, 'a resource that can be listed and watched');
    wanted.push({ resource, name });
  }
  return wanted;
}

const isWatchable = (resource: DiscoveredResource): boolean =>
  resource.verbs.includes('list') && resource.verbs.includes('watch');

/** A server that is not there yet is waited for; undefined when the signal came first. */
async function reachable<R>(run: () => Promise<R>, options: WatchCommandOptions): Promise<R | undefined> {
  const { clock, signal, warn } = options;
  const backoff = new BackoffManager();
  while (!signal.aborted) {
    try {
      return await run();
    } catch (error) {
      if (signal.aborted) break;
      if (!isTransportError(error) || error.code === 'TLS') throw error;
      const waitMs = Math.round(backoff.next(clock.now()));
      warn(`cannot reach the server, next try in ${waitMs} ms: ${error.message}`);
      await sleep(clock, waitMs, { signal }).catch(() => {});
    }
  }
  return undefined;
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
}
