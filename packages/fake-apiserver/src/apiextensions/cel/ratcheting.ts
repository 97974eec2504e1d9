// Whether the errors of a part are forgiven because it, or the nearest part above that can be found again, did not change.
// Upstream: apiextensions-apiserver@v0.30.3:pkg/apiserver/schema/cel/validation.go#ratchetingOptions
import type { CorrelatedObject } from '../validation/correlated-object.ts';

export class Ratcheting {
  readonly #current: CorrelatedObject | undefined;
  readonly #parent: CorrelatedObject | undefined;

  constructor(current: CorrelatedObject | undefined, parent?: CorrelatedObject | undefined) {
    this.#current = current;
    this.#parent = parent;
  }

  get forgives(): boolean {
    return (this.#current ?? this.#parent)?.equal ?? false;
  }

  key(field: string): Ratcheting {
    if (this.#current === undefined) return this;
    // At the root, changes of these two cannot be seen: both objects are in the same version.
    if (this.#parent === undefined && (field === 'apiVersion' || field === 'kind')) return new Ratcheting(undefined);
    return new Ratcheting(this.#current.key(field), this.#current);
  }

  index(position: number): Ratcheting {
    if (this.#current === undefined) return this;
    return new Ratcheting(this.#current.index(position), this.#current);
  }
}
