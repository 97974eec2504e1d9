// What the compiler must accept and refuse; checked by the type check, never run.
import type { Pod } from 'kubernetes-types/core/v1.js';
import type { Informer, Live, ResourceType, StoreEvent } from '../src/index.ts';
import { createClient, Deployments, defineResource, Pods, SharedInformerFactory } from '../src/index.ts';

export const MyPods: ResourceType<Pod> = defineResource<Pod>()({
  apiVersion: 'v1',
  kind: 'Pod',
  plural: 'pods',
  scope: 'Namespaced',
});
// @ts-expect-error the type says v1
defineResource<Pod>()({ apiVersion: 'v2', kind: 'Pod', plural: 'pods', scope: 'Namespaced' });

export function check(): void {
  const factory = new SharedInformerFactory(createClient({ server: 'http://127.0.0.1' }));
  const pods = factory.informer(Pods, { indexers: { node: (pod) => [pod.spec?.nodeName ?? ''] } });
  const onNode: Live<Pod>[] = pods.store.by('node', 'worker-1');
  pods.store.by('namespace', 'shop');
  // @ts-expect-error no such index
  pods.store.by('nodes', 'worker-1');
  const name: string | undefined = onNode[0]?.metadata.name;
  // Certain in a live object, optional in the type of the definition.
  const version: string = pods.store.list()[0]!.metadata.resourceVersion;
  const plain: Informer<Pod> = factory.informer(Pods);
  const deployments = factory.informer(Deployments);
  // @ts-expect-error another kind
  const wrong: Informer<Pod> = deployments;
  plain.handle((event) => {
    describeEvent(event);
  });
  void [name, version, wrong];
}

function describeEvent(event: StoreEvent<Pod>): string {
  switch (event.type) {
    case 'added':
      return `${event.object.metadata.uid} ${event.initial}`;
    case 'updated':
      return `${event.previous.metadata.resourceVersion} ${event.recreated}`;
    case 'deleted':
      return event.finalState;
    case 'synced':
      return event.resourceVersion;
    default:
      return event satisfies never;
  }
}
