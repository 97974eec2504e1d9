// Waiting for one object.
import type { KubernetesObject } from '@kube-rx/apimachinery';
import type { ObjectName } from '../client/client-options.ts';
import type { ResourceClient } from '../client/resource-client.ts';
import type { Live } from '../rest/resource-type.ts';
import type { ObjectCondition } from './conditions.ts';
import type { UntilWithSyncOptions } from './until-with-sync.ts';
import { untilWithSync } from './until-with-sync.ts';

/**
 * Watches that one object, through every fault, until the condition holds; resolves with the object, undefined when the condition
 * holds for its absence. Rejects as {@link untilWithSync} does.
 *
 * @example
 * const pod = await waitForCondition(pods, 'web-0', isPodReady, { timeoutMs: 60_000 });
 */
export async function waitForCondition<T extends KubernetesObject>(
  client: ResourceClient<T>,
  name: ObjectName,
  condition: ObjectCondition<T>,
  options: UntilWithSyncOptions = {},
): Promise<Live<T> | undefined> {
  const ref = typeof name === 'string' ? { name } : name;
  const scoped = ref.namespace === undefined ? client : client.namespace(ref.namespace);
  const listerWatcher = scoped.listerWatcher({ fieldSelector: `metadata.name=${ref.name}`, maxRetries: 0 });
  const met = await untilWithSync(
    listerWatcher,
    (states) => {
      // Without a namespace the selector may match several objects; the first that fits is as good as any.
      const objects = [...states.values()].filter((object) => object.metadata.name === ref.name);
      if (objects.length === 0) return condition(undefined) ? { object: undefined } : undefined;
      const object = objects.find(condition);
      return object === undefined ? undefined : { object };
    },
    options,
  );
  return met.object;
}
