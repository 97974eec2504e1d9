// What a pod takes from its runtime class, and which claims may grow.
// Upstream: kubernetes@v1.30.3:plugin/pkg/admission/{runtimeclass,storage/persistentvolume/resize}/admission.go
import { newForbidden, type StatusError } from '@kube-rx/apimachinery';
import {
  clone,
  type Draft,
  dict,
  ensure,
  entries,
  get,
  has,
  list,
  put,
  semanticEqual,
  str,
} from '../registry/draft.ts';
import { metadata } from '../registry/validation/object-meta.ts';
import { quantity } from '../registry/validation/values.ts';
import type { AdmissionAttributes, AdmissionPlugin } from './admission.ts';
import type { ListAll } from './objects.ts';

const refuse = (attributes: AdmissionAttributes, why: string): StatusError =>
  newForbidden(attributes.resource, attributes.name || str(metadata(attributes.object ?? {}), 'name'), why);

const OVERHEAD_DIFFERS = "pod rejected: Pod's Overhead doesn't match RuntimeClass's defined Overhead";

function setScheduling(attributes: AdmissionAttributes, spec: Draft, scheduling: Draft): void {
  for (const [key, value] of entries(scheduling, 'nodeSelector')) {
    const own = get(dict(spec, 'nodeSelector'), key);
    if (own !== undefined && own !== value) {
      throw refuse(
        attributes,
        `conflict: runtimeClass.scheduling.nodeSelector[${key}] = ${value}; pod.spec.nodeSelector[${key}] = ${own}`,
      );
    }
    put(ensure(spec, 'nodeSelector'), key, value);
  }
  const present = list(spec, 'tolerations');
  const added = list(scheduling, 'tolerations').filter((one) => !present.some((known) => semanticEqual(known, one)));
  if (added.length > 0) put(spec, 'tolerations', [...present, ...clone(added)]);
}

export function runtimeClasses(classes: ListAll): AdmissionPlugin {
  return {
    name: 'RuntimeClass',
    async admit(attributes) {
      const { resource, operation, subresource, object, request } = attributes;
      const isPod = resource.group === '' && resource.resource === 'pods' && subresource === '';
      if (!isPod || operation !== 'CREATE' || object === undefined) return;
      const spec = ensure(object, 'spec');
      const name = str(spec, 'runtimeClassName');
      const found = name === '' ? undefined : (await classes(request.signal)).find((one) => one.metadata.name === name);
      if (name !== '' && found === undefined)
        throw refuse(attributes, `pod rejected: RuntimeClass ${JSON.stringify(name)} not found`);
      const overhead = dict(found as unknown as Draft | undefined, 'overhead', 'podFixed');
      const own = dict(spec, 'overhead');
      if (overhead === undefined) {
        if (own !== undefined)
          throw refuse(
            attributes,
            'pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead',
          );
      } else if (own !== undefined && !semanticEqual(own, overhead)) throw refuse(attributes, OVERHEAD_DIFFERS);
      else put(spec, 'overhead', clone(overhead));
      const scheduling = dict(found as unknown as Draft | undefined, 'scheduling');
      if (scheduling !== undefined) setScheduling(attributes, spec, scheduling);
    },
  };
}

const requested = (claim: Draft | undefined): ReturnType<typeof quantity> =>
  quantity(get(dict(claim, 'spec', 'resources', 'requests'), 'storage'));

export function claimResize(classes: ListAll): AdmissionPlugin {
  return {
    name: 'PersistentVolumeClaimResize',
    async validate(attributes) {
      const { resource, operation, subresource, object, old, request } = attributes;
      if (resource.group !== '' || resource.resource !== 'persistentvolumeclaims' || subresource !== '') return;
      if (operation !== 'UPDATE' || object === undefined || old === undefined) return;
      const before = old as unknown as Draft;
      const [now, was] = [requested(object), requested(before)];
      if (now === undefined || was === undefined || now.compare(was) <= 0) return;
      if (str(dict(before, 'status'), 'phase') !== 'Bound')
        throw refuse(attributes, 'Only bound persistent volume claims can be expanded');
      const beta = get(dict(metadata(object), 'annotations'), 'volume.beta.kubernetes.io/storage-class');
      const name = typeof beta === 'string' ? beta : str(dict(object, 'spec'), 'storageClassName');
      const found = (await classes(request.signal)).find((one) => one.metadata.name === name);
      if (
        found === undefined ||
        !has(found as unknown as Draft, 'allowVolumeExpansion') ||
        found['allowVolumeExpansion'] !== true
      ) {
        throw refuse(
          attributes,
          'only dynamically provisioned pvc can be resized and the storageclass that provisions the pvc must support resize',
        );
      }
    },
  };
}
