// Small changes that admission makes to new objects of other kinds.
// Upstream: kubernetes@v1.30.3:plugin/pkg/admission/{storage/storageobjectinuseprotection,storage/storageclass/setdefault,nodetaint,network/defaultingressclass}/admission.go
import { newForbidden } from '@kube-rx/apimachinery';
import { type Draft, dict, dicts, ensure, get, has, list, put, str, strings } from '../registry/draft.ts';
import { parseTime } from '../registry/time-form.ts';
import type { ApiObject } from '../storage/api-object.ts';
import type { AdmissionAttributes, AdmissionPlugin } from './admission.ts';

const creates = (attributes: AdmissionAttributes, group: string, resource: string): boolean =>
  attributes.operation === 'CREATE' &&
  attributes.subresource === '' &&
  attributes.resource.group === group &&
  attributes.resource.resource === resource;

function addFinalizer(object: Draft, name: string): void {
  const meta = ensure(object, 'metadata');
  if (!strings(meta, 'finalizers').includes(name)) put(meta, 'finalizers', [...strings(meta, 'finalizers'), name]);
}

/** Claims and volumes are kept as long as somebody uses them. */
export const storageObjectInUseProtection: AdmissionPlugin = {
  name: 'StorageObjectInUseProtection',
  admit(attributes) {
    if (attributes.object === undefined) return;
    if (creates(attributes, '', 'persistentvolumeclaims'))
      addFinalizer(attributes.object, 'kubernetes.io/pvc-protection');
    if (creates(attributes, '', 'persistentvolumes')) addFinalizer(attributes.object, 'kubernetes.io/pv-protection');
  },
};

const NOT_READY = 'node.kubernetes.io/not-ready';

/** A node takes no pods before it says that it is ready. */
export const taintNodesByCondition: AdmissionPlugin = {
  name: 'TaintNodesByCondition',
  admit(attributes) {
    if (!creates(attributes, '', 'nodes') || attributes.object === undefined) return;
    const spec = ensure(attributes.object, 'spec');
    const present = dicts(spec, 'taints').some(
      (taint) => str(taint, 'key') === NOT_READY && str(taint, 'effect') === 'NoSchedule',
    );
    if (!present) put(spec, 'taints', [...list(spec, 'taints'), { key: NOT_READY, effect: 'NoSchedule' }]);
  },
};

/** All objects of a kind. */
export type ListAll = (signal: AbortSignal) => Promise<readonly ApiObject[]>;

const annotated = (object: ApiObject, ...keys: readonly string[]): boolean =>
  keys.some((key) => object.metadata.annotations?.[key] === 'true');

/** A claim that names no class gets the newest default one. */
export function defaultStorageClass(classes: ListAll): AdmissionPlugin {
  return {
    name: 'DefaultStorageClass',
    async admit(attributes) {
      const { object } = attributes;
      if (!creates(attributes, '', 'persistentvolumeclaims') || object === undefined) return;
      const spec = ensure(object, 'spec');
      const old = get(dict(object, 'metadata', 'annotations'), 'volume.beta.kubernetes.io/storage-class');
      if (has(spec, 'storageClassName') || old !== undefined) return;
      const defaults = (await classes(attributes.request.signal)).filter((one) =>
        annotated(
          one,
          'storageclass.kubernetes.io/is-default-class',
          'storageclass.beta.kubernetes.io/is-default-class',
        ),
      );
      const [newest] = [...defaults].sort((a, b) => {
        const byAge =
          (parseTime(b.metadata.creationTimestamp ?? '') ?? 0) - (parseTime(a.metadata.creationTimestamp ?? '') ?? 0);
        return byAge === 0 ? ((a.metadata.name ?? '') < (b.metadata.name ?? '') ? -1 : 1) : byAge;
      });
      if (newest !== undefined) put(spec, 'storageClassName', newest.metadata.name);
    },
  };
}

/** An ingress that names no class gets the default one. */
export function defaultIngressClass(classes: ListAll): AdmissionPlugin {
  return {
    name: 'DefaultIngressClass',
    async admit(attributes) {
      const { object } = attributes;
      if (!creates(attributes, 'networking.k8s.io', 'ingresses') || object === undefined) return;
      const spec = ensure(object, 'spec');
      if (has(spec, 'ingressClassName')) return;
      if (get(dict(object, 'metadata', 'annotations'), 'kubernetes.io/ingress.class') !== undefined) return;
      const defaults = (await classes(attributes.request.signal)).filter((one) =>
        annotated(one, 'ingressclass.kubernetes.io/is-default-class'),
      );
      const [first] = [...defaults].sort(
        (a, b) =>
          (parseTime(b.metadata.creationTimestamp ?? '') ?? 0) - (parseTime(a.metadata.creationTimestamp ?? '') ?? 0),
      );
      if (first !== undefined) put(spec, 'ingressClassName', first.metadata.name);
    },
  };
}

/** Only one priority class may be the default, and its value bounds that of users' classes. */
export function oneDefaultPriorityClass(classes: ListAll): AdmissionPlugin {
  return {
    name: 'PriorityClassDefault',
    async validate(attributes) {
      const { object, resource, operation } = attributes;
      if (object === undefined || resource.resource !== 'priorityclasses') return;
      if (operation !== 'CREATE' && operation !== 'UPDATE') return;
      if (get(object, 'globalDefault') !== true) return;
      const others = (await classes(attributes.request.signal)) as readonly unknown[] as readonly Draft[];
      const own = str(dict(object, 'metadata'), 'name');
      const other = others.find(
        (one) => get(one, 'globalDefault') === true && str(dict(one, 'metadata'), 'name') !== own,
      );
      if (other === undefined) return;
      throw newForbidden(
        resource,
        own,
        `PriorityClass ${str(dict(other, 'metadata'), 'name')} is already marked as default. Only one default can exist`,
      );
    },
  };
}
