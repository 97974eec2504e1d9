// The kinds that are changed: with a watch cache and without one, built in and defined by a custom resource definition.
import { ConfigMaps, Deployments, defineResource, Pods, type ResourceType, Secrets } from '@kube-rx/informer';

/** As much of an object as is written here. */
export interface AnyObject {
  readonly apiVersion?: string;
  readonly kind?: string;
  readonly metadata?: {
    readonly name?: string;
    readonly namespace?: string;
    readonly labels?: Readonly<Record<string, string>>;
  };
  readonly [field: string]: unknown;
}

export interface Churned {
  readonly type: ResourceType<AnyObject>;
  /** What the command lines call it. */
  readonly name: string;
  readonly cached: boolean;
  /** What an object has at its beginning beside name and namespace. */
  first(number: number, namespace: string): AnyObject;
  /** A change, different for each number. */
  change(number: number): AnyObject;
}

/** As the server names what has a watch cache: `pods`, `deployments.apps`. */
export function groupResource({ apiVersion, plural }: ResourceType): string {
  const slash = apiVersion.indexOf('/');
  return slash < 0 ? plural : `${plural}.${apiVersion.slice(0, slash)}`;
}

const any = (type: unknown): ResourceType<AnyObject> => type as ResourceType<AnyObject>;

const Events = defineResource<AnyObject>()({ apiVersion: 'v1', kind: 'Event', plural: 'events', scope: 'Namespaced' });
const Widgets = defineResource<AnyObject>()({
  apiVersion: 'example.com/v1',
  kind: 'Widget',
  plural: 'widgets',
  scope: 'Namespaced',
});

export const WIDGETS_DEFINITION: Readonly<Record<string, unknown>> = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'widgets.example.com' },
  spec: {
    group: 'example.com',
    scope: 'Namespaced',
    names: { plural: 'widgets', singular: 'widget', kind: 'Widget', listKind: 'WidgetList' },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        schema: { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
      },
    ],
  },
};

const deployment = (number: number): AnyObject => ({
  spec: {
    replicas: number % 9,
    selector: { matchLabels: { app: 'churn' } },
    template: {
      metadata: { labels: { app: 'churn' }, annotations: { number: String(number) } },
      spec: { containers: [{ name: 'main', image: 'registry.example/main:1' }] },
    },
  },
});
// Now and then one that no buffer of a socket holds at once.
const data = (number: number): AnyObject => ({
  data: { number: String(number), text: 'grüße '.repeat(number % 50 === 0 ? 40_000 : number % 97) },
});
const secret = (number: number): AnyObject => ({ stringData: { number: String(number) } });
const labels = (number: number): AnyObject => ({ metadata: { labels: { number: String(number) } } });
const widget = (number: number): AnyObject => ({ spec: { number, list: [number, number + 1] } });

export const CHURNED: readonly Churned[] = [
  { type: any(ConfigMaps), name: 'configmaps', cached: true, first: data, change: data },
  { type: any(Secrets), name: 'secrets', cached: true, first: secret, change: secret },
  { type: any(Deployments), name: 'deployments', cached: true, first: deployment, change: deployment },
  {
    type: any(Pods),
    name: 'pods',
    cached: true,
    first: (number) => ({
      ...labels(number),
      spec: { containers: [{ name: 'main', image: 'registry.example/main:1' }] },
    }),
    change: labels,
  },
  {
    type: Events,
    name: 'events',
    cached: false,
    first: (number, namespace) => ({
      involvedObject: { apiVersion: 'v1', kind: 'ConfigMap', name: 'churn-0', namespace },
      reason: 'Churned',
      message: `number ${number}`,
      type: 'Normal',
    }),
    change: (number) => ({ message: `number ${number}`, count: number }),
  },
  { type: Widgets, name: 'widgets', cached: true, first: widget, change: widget },
];
