// What a reflector writes to.
// Upstream: client-go@v0.30.3:tools/cache/store.go#Store, tools/cache/reflector.go#ResourceVersionUpdater
import type { KubernetesObject } from '@kube-rx/apimachinery';

/** All methods are synchronous. One that throws loses its object only; `replace` and `resync` end the cycle. */
export interface ReflectorStore<T extends KubernetesObject> {
  add(object: T): void;
  update(object: T): void;
  delete(object: T): void;
  replace(items: readonly T[], resourceVersion: string): void;
  resync?(): void;
  /** An equal object that the store has already, or the one given: a list then need not be held beside what it repeats. */
  held?(object: T): T;
  /** Called after every event, bookmarks included. */
  updateResourceVersion?(resourceVersion: string): void;
}
