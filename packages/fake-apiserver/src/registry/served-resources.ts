// Everything served at present. Built-in resources are put in once; those of CRDs come and go while the server runs.
// Upstream: kubernetes@v1.30.3:pkg/controlplane/instance.go#Instance.InstallAPIs
import type { ResourceCatalog, ResourceInfo, ResourceStore, SubresourceHandler, VirtualResource } from './rest.ts';

const key = (...parts: readonly string[]): string => parts.join('/');

export class ServedResources implements ResourceCatalog {
  readonly #stores = new Map<string, ResourceStore>();
  readonly #virtual = new Map<string, VirtualResource>();
  readonly #subresources = new Map<string, SubresourceHandler>();
  #generation = 0;

  get generation(): number {
    return this.#generation;
  }

  find(group: string, version: string, resource: string): ResourceStore | undefined {
    return this.#stores.get(key(group, version, resource));
  }

  findVirtual(group: string, version: string, resource: string): VirtualResource | undefined {
    return this.#virtual.get(key(group, version, resource));
  }

  findSubresource(group: string, version: string, resource: string, sub: string): SubresourceHandler | undefined {
    return this.#subresources.get(key(group, version, resource, sub));
  }

  *all(): Iterable<ResourceInfo> {
    for (const store of this.#stores.values()) yield store.info;
    for (const virtual of this.#virtual.values()) yield virtual.info;
  }

  /** Serves a resource from now on; one of the same group, version and name is replaced. */
  add(store: ResourceStore, subresources: readonly SubresourceHandler[] = []): void {
    const { group, version, resource } = store.info;
    this.#drop(group, version, resource);
    this.#stores.set(key(group, version, resource), store);
    for (const handler of subresources)
      this.#subresources.set(key(group, version, resource, handler.info.name), handler);
    this.#generation += 1;
  }

  addVirtual(virtual: VirtualResource): void {
    const { group, version, resource } = virtual.info;
    this.#virtual.set(key(group, version, resource), virtual);
    this.#generation += 1;
  }

  /** Stops serving a resource; its storage is the caller's to close. False when it was not served. */
  remove(group: string, version: string, resource: string): boolean {
    const removed = this.#drop(group, version, resource);
    if (removed) this.#generation += 1;
    return removed;
  }

  #drop(group: string, version: string, resource: string): boolean {
    const at = key(group, version, resource);
    for (const handler of [...this.#subresources.keys()])
      if (handler.startsWith(`${at}/`)) this.#subresources.delete(handler);
    return this.#stores.delete(at);
  }
}
