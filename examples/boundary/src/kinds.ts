// Which resources of a server get an informer.
import type { DiscoveredResource, KubeClient } from '@kube-rx/informer';
import { messageOf } from './api-error.ts';
import { UsageError } from './options.ts';

/** What is watched although nobody has made one yet. */
const COMMON: ReadonlySet<string> = new Set([
  'configmaps',
  'events',
  'namespaces',
  'pods',
  'secrets',
  'services',
  'deployments.apps',
]);

/** Kinds named by the user, or every kind that can be watched and has objects, and a few more. One resource, one informer. */
export async function chooseKinds(
  client: KubeClient,
  names: readonly string[],
  signal: AbortSignal,
): Promise<DiscoveredResource[]> {
  const chosen = names.length > 0 ? await namedKinds(client, names, signal) : await kindsWithObjects(client, signal);
  if (chosen.length === 0) throw new UsageError('the server has no kind that can be listed and watched');
  return chosen;
}

async function namedKinds(
  client: KubeClient,
  names: readonly string[],
  signal: AbortSignal,
): Promise<DiscoveredResource[]> {
  const byName = new Map<string, DiscoveredResource>();
  for (const name of names) {
    let type: DiscoveredResource;
    try {
      type = await client.discovery.find(name, { signal });
    } catch (error) {
      throw new UsageError(`--kinds ${name}: ${messageOf(error)}`, { cause: error });
    }
    if (!isWatchable(type)) throw new UsageError(`--kinds ${name}: ${type.plural} cannot be listed and watched`);
    byName.set(kindName(type), type);
  }
  return [...byName.values()];
}

async function kindsWithObjects(client: KubeClient, signal: AbortSignal): Promise<DiscoveredResource[]> {
  const { groups } = await client.discovery.snapshot({ signal });
  const preferred = groups.flatMap((group) => {
    const seen = new Set<string>();
    return group.versions
      .flatMap((version) => version.resources)
      .filter((type) => {
        if (!isWatchable(type) || isSecondFace(type) || seen.has(type.plural)) return false;
        seen.add(type.plural);
        return true;
      });
  });
  const answers = await Promise.all(preferred.map((type) => lookAt(client, type, signal)));
  return preferred.filter((type, index) => {
    const answer = answers[index];
    return answer === 'objects' || (answer === 'none' && COMMON.has(kindName(type)));
  });
}

function isWatchable({ verbs }: DiscoveredResource): boolean {
  return verbs.includes('list') && verbs.includes('watch');
}

/** The same objects under another group. */
function isSecondFace({ group, plural }: DiscoveredResource): boolean {
  return (group === 'events.k8s.io' && plural === 'events') || (group === 'extensions' && plural === 'ingresses');
}

/** What may not be listed is not watched either. */
async function lookAt(
  client: KubeClient,
  type: DiscoveredResource,
  signal: AbortSignal,
): Promise<'objects' | 'none' | 'refused'> {
  try {
    for await (const page of client.resource(type).pages({ pageSize: 1, signal })) {
      return page.items.length > 0 ? 'objects' : 'none';
    }
    return 'none';
  } catch {
    signal.throwIfAborted();
    return 'refused';
  }
}

/** `pods`, `deployments.apps`. */
export function kindName({ group, plural }: { readonly group: string; readonly plural: string }): string {
  return group === '' ? plural : `${plural}.${group}`;
}
