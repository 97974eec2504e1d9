// Every state an object ever had on the server, as the answers to the writes say.
import type { KubernetesObject } from '@kube-rx/apimachinery';

export class WriteHistory {
  readonly #states = new Map<string, string>();

  /** Takes the answer to a write, and hands it on. */
  record<T extends KubernetesObject>(object: T): T {
    this.#states.set(idOf(object), canonical(object));
    return object;
  }

  /** What is wrong with an object that somebody was told about; undefined when it is a state the server really had. */
  check(object: KubernetesObject): string | undefined {
    const written = this.#states.get(idOf(object));
    if (written === undefined) return `nobody wrote ${idOf(object)}`;
    const seen = canonical(object);
    return written === seen ? undefined : `${seen} is not what was written: ${written}`;
  }
}

function idOf({ metadata = {} }: KubernetesObject): string {
  return `${metadata.namespace}/${metadata.name} ${metadata.uid}@${metadata.resourceVersion}`;
}

/** Order of fields means nothing. */
function canonical(object: KubernetesObject): string {
  return JSON.stringify(object, (_key, value: unknown) => {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
    return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)));
  });
}
