// Puts manifests into a server: first what others need, then the rest, then what had to wait for a custom resource.

import { setTimeout as sleep } from 'node:timers/promises';
import type { DiscoveredResource, KubeClient } from '@kube-rx/informer';
import { messageOf, reasonOf } from './api-error.ts';
import { describeOrigin, type LocatedManifest, type ManifestProblem } from './manifests.ts';

export interface LoadedObject {
  readonly type: DiscoveredResource;
  readonly namespace: string | undefined;
  readonly name: string;
}

export interface LoadResult {
  readonly objects: readonly LoadedObject[];
  readonly problems: readonly ManifestProblem[];
}

const DEFAULT_NAMESPACE = 'default';
const FIRST: ReadonlySet<string> = new Set(['Namespace', 'CustomResourceDefinition']);
/** How long a definition may take until its resource is served. */
const ESTABLISH_MS = 5_000;
const RETRY_MS = 100;

/** Creates every object; one that is there already is left as it is. What the server refuses is a problem of that manifest. */
export async function loadManifests(
  client: KubeClient,
  manifests: readonly LocatedManifest[],
  signal: AbortSignal,
): Promise<LoadResult> {
  await ensureDefaultNamespace(client, signal);
  const objects: LoadedObject[] = [];
  const problems: ManifestProblem[] = [];
  const isFirst = ({ object }: LocatedManifest): boolean => FIRST.has(object.kind);
  const hasDefinitions = manifests.some(({ object }) => object.kind === 'CustomResourceDefinition');
  const deadline = Date.now() + (hasDefinitions ? ESTABLISH_MS : 0);
  for (const manifest of [...manifests.filter(isFirst), ...manifests.filter((one) => !isFirst(one))]) {
    try {
      const type = await typeOf(client, manifest, deadline, signal);
      objects.push(await create(client, type, manifest, signal));
    } catch (error) {
      signal.throwIfAborted();
      problems.push({ origin: manifest.origin, message: messageOf(error) });
    }
  }
  return { objects, problems };
}

/** On a cluster a controller makes it. */
async function ensureDefaultNamespace(client: KubeClient, signal: AbortSignal): Promise<void> {
  const namespaces = await client.discovery.findKind('v1', 'Namespace', { signal });
  const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: DEFAULT_NAMESPACE } };
  try {
    await client.resource(namespaces).create(namespace, { signal });
  } catch (error) {
    if (reasonOf(error) !== 'AlreadyExists') throw error;
  }
}

/** `shop.yaml: document 3, line 41: no kind "Widget" ...`. */
export function describeProblem({ origin, message }: ManifestProblem): string {
  return `${describeOrigin(origin)}: ${message}`;
}

async function typeOf(
  client: KubeClient,
  { object }: LocatedManifest,
  deadline: number,
  signal: AbortSignal,
): Promise<DiscoveredResource> {
  for (;;) {
    const resources = await client.discovery.resources({ signal });
    const found = resources.find((type) => type.apiVersion === object.apiVersion && type.kind === object.kind);
    if (found !== undefined) return found;
    if (Date.now() >= deadline) throw new Error(`the server has no kind ${object.kind} in ${object.apiVersion}`);
    await sleep(RETRY_MS, undefined, { signal });
    client.discovery.invalidate();
  }
}

async function create(
  client: KubeClient,
  type: DiscoveredResource,
  { object }: LocatedManifest,
  signal: AbortSignal,
): Promise<LoadedObject> {
  const namespace = type.scope === 'Namespaced' ? (object.metadata.namespace ?? DEFAULT_NAMESPACE) : undefined;
  const metadata = { ...object.metadata, ...(namespace === undefined ? {} : { namespace }) };
  try {
    const created = await client.resource(type).create({ ...object, metadata }, { signal });
    return { type, namespace, name: created.metadata.name };
  } catch (error) {
    const { name } = object.metadata;
    if (reasonOf(error) !== 'AlreadyExists' || name === undefined) throw error;
    return { type, namespace, name };
  }
}
