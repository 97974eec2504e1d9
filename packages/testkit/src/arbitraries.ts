// Arbitrary API objects and changes to them, for properties.
import type { KubernetesObject, ObjectMeta } from '@kube-rx/apimachinery';
import fc from 'fast-check';

export interface ArbitraryConfigMap extends KubernetesObject {
  readonly apiVersion: 'v1';
  readonly kind: 'ConfigMap';
  readonly metadata: ObjectMeta & { readonly name: string; readonly namespace: string };
  readonly data?: Readonly<Record<string, string>>;
}

export interface ObjectArbitraryOptions {
  /** How many different names there are; few names make many meetings. Default 5. */
  readonly names?: number;
  /** Default 2. */
  readonly namespaces?: number;
}

/** Small sets of labels over few keys and values, so that selectors match now and then. */
export const arbitraryLabels: fc.Arbitrary<Record<string, string>> = fc.dictionary(
  fc.constantFrom('app', 'tier', 'kube-rx.dev/part'),
  fc.constantFrom('web', 'db', ''),
  { maxKeys: 3, noNullPrototype: true },
);

/** Config maps as a client would create them: without resource version and uid. */
export function arbitraryConfigMap(options: ObjectArbitraryOptions = {}): fc.Arbitrary<ArbitraryConfigMap> {
  const { names = 5, namespaces = 2 } = options;
  return fc
    .record({
      name: fc.nat(names - 1),
      namespace: fc.nat(namespaces - 1),
      labels: fc.option(arbitraryLabels, { nil: undefined }),
      data: fc.option(fc.dictionary(fc.stringMatching(/^[-._a-z0-9]{1,8}$/), fc.string({ unit: 'grapheme' })), {
        nil: undefined,
      }),
    })
    .map(({ name, namespace, labels, data }) => ({
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: {
        name: `object-${name}`,
        namespace: `namespace-${namespace}`,
        ...(labels === undefined ? {} : { labels }),
      },
      ...(data === undefined ? {} : { data }),
    }));
}

/** One step of a history. Whether the object is there is for the model to know. */
export type ObjectChange<T extends KubernetesObject> =
  | { readonly verb: 'create' | 'update'; readonly object: T }
  | { readonly verb: 'delete'; readonly namespace: string; readonly name: string };

/** Creates, updates and deletes of config maps, in any order. */
export function arbitraryChange(options: ObjectArbitraryOptions = {}): fc.Arbitrary<ObjectChange<ArbitraryConfigMap>> {
  return fc
    .record({ verb: fc.constantFrom('create', 'update', 'delete'), object: arbitraryConfigMap(options) })
    .map(({ verb, object }): ObjectChange<ArbitraryConfigMap> => {
      if (verb !== 'delete') return { verb: verb === 'create' ? 'create' : 'update', object };
      return { verb, namespace: object.metadata.namespace, name: object.metadata.name };
    });
}
