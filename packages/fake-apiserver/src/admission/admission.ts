// What may change or refuse a write after authorization and before it is stored.
// Upstream: apiserver@v0.30.3:pkg/admission/interfaces.go, chain.go
import type { DeleteOptions, GroupVersionKind, GroupVersionResource } from '@kube-rx/apimachinery';
import type { Draft } from '../registry/draft.ts';
import type { RequestContext } from '../registry/rest.ts';
import type { ApiObject } from '../storage/api-object.ts';

export type AdmissionOperation = 'CREATE' | 'UPDATE' | 'DELETE' | 'CONNECT';

export interface AdmissionAttributes {
  readonly operation: AdmissionOperation;
  readonly resource: GroupVersionResource;
  readonly subresource: string;
  readonly kind: GroupVersionKind;
  readonly namespace: string;
  /** '' for a create whose name is made up later. */
  readonly name: string;
  /** Undefined for a delete. In the version in which the kind is stored. */
  readonly object: Draft | undefined;
  readonly old: ApiObject | undefined;
  readonly options?: DeleteOptions | undefined;
  readonly dryRun: boolean;
  readonly request: RequestContext;
}

/** Both hooks throw a StatusError to refuse. */
export interface AdmissionPlugin {
  readonly name: string;
  /** May change `attributes.object`. Runs before names are generated and before validation. */
  admit?(attributes: AdmissionAttributes): void | Promise<void>;
  /** Sees the object as it will be stored. */
  validate?(attributes: AdmissionAttributes): void | Promise<void>;
}

/** Runs its plugins in order; the first refusal counts. */
export class AdmissionChain {
  readonly #plugins: readonly AdmissionPlugin[];

  constructor(plugins: readonly AdmissionPlugin[]) {
    this.#plugins = plugins;
  }

  async admit(attributes: AdmissionAttributes): Promise<void> {
    for (const plugin of this.#plugins) {
      const pending = plugin.admit?.(attributes);
      if (pending !== undefined) await pending;
    }
  }

  async validate(attributes: AdmissionAttributes): Promise<void> {
    for (const plugin of this.#plugins) {
      const pending = plugin.validate?.(attributes);
      if (pending !== undefined) await pending;
    }
  }
}
