// Pods.
// Upstream: kubernetes@v1.30.3:pkg/registry/core/pod/strategy.go
import { isDNS1123Label } from '@kube-rx/apimachinery';
import type { ApiObject } from '../../storage/api-object.ts';
import { bool, clone, type Draft, dict, dicts, get, put, str } from '../draft.ts';
import type { Strategy } from '../strategy.ts';
import { keep, keepMeta } from '../strategy-parts.ts';
import { path } from '../validation/field-errors.ts';
import { metadata } from '../validation/object-meta.ts';
import { validatePodCreate, validatePodStatus, validatePodUpdate } from '../validation/pod.ts';
import { podWarnings } from '../workloads/pod-warnings.ts';
import { podQos } from './qos.ts';

const SELECTABLE = [
  'metadata.name',
  'metadata.namespace',
  'spec.nodeName',
  'spec.restartPolicy',
  'spec.schedulerName',
  'spec.serviceAccountName',
  'spec.hostNetwork',
  'status.phase',
  'status.podIP',
  'status.podIPs',
  'status.nominatedNodeName',
];

function selectableFields(object: ApiObject): Readonly<Record<string, string>> {
  const pod = object as unknown as Draft;
  const [spec, status] = [dict(pod, 'spec'), dict(pod, 'status')];
  const firstIp = dicts(status, 'podIPs')[0];
  return {
    'spec.nodeName': str(spec, 'nodeName'),
    'spec.restartPolicy': str(spec, 'restartPolicy'),
    'spec.schedulerName': str(spec, 'schedulerName'),
    'spec.serviceAccountName': str(spec, 'serviceAccountName'),
    'spec.hostNetwork': String(bool(spec, 'hostNetwork')),
    'status.phase': str(status, 'phase'),
    'status.podIP': str(firstIp, 'ip') || str(status, 'podIP'),
    'status.podIPs': str(firstIp, 'ip') || str(status, 'podIP'),
    'status.nominatedNodeName': str(status, 'nominatedNodeName'),
  };
}

/** A pod that is gated says so from the start. */
function gatedConditions(pod: Draft): readonly Draft[] {
  if (dicts(dict(pod, 'spec'), 'schedulingGates').length === 0) return [];
  return [
    {
      type: 'PodScheduled',
      status: 'False',
      reason: 'SchedulingGated',
      message: 'Scheduling is blocked due to non-empty scheduling gates',
    },
  ];
}

export const podStrategy: Strategy = {
  namespaced: true,
  returnDeletedObject: true,
  fieldLabels: new Map([
    ...SELECTABLE.map((name) => [name, name] as const),
    // Kept for clients of long ago.
    ['spec.host', 'spec.nodeName'] as const,
  ]),
  selectableFields,
  resetFields: {
    '': [['status']],
    status: [['spec'], ['metadata', 'deletionTimestamp'], ['metadata', 'ownerReferences']],
    ephemeralcontainers: [['status']],
  },
  prepareForCreate(object) {
    const conditions = gatedConditions(object);
    put(object, 'status', {
      phase: 'Pending',
      qosClass: podQos(object),
      ...(conditions.length === 0 ? {} : { conditions }),
    });
  },
  prepareForUpdate(object, old) {
    keep(object, old, 'status');
  },
  validateCreate: validatePodCreate,
  validateUpdate: validatePodUpdate,
  warningsOnCreate(object) {
    const name = str(metadata(object), 'name');
    const wrong = isDNS1123Label(name);
    const hostname =
      "metadata.name: this is used in the Pod's hostname, which can result in surprising behavior; a DNS label is recommended";
    const ofName = wrong.length === 0 ? [] : [`${hostname}: [${wrong.join(' ')}]`];
    return [...ofName, ...podWarnings(object, path(), false)];
  },
  gracePeriodSeconds(object, options) {
    const pod = object as unknown as Draft;
    const [spec, phase] = [dict(pod, 'spec'), str(dict(pod, 'status'), 'phase')];
    const own = get(spec, 'terminationGracePeriodSeconds');
    const period = options.gracePeriodSeconds ?? (typeof own === 'number' ? own : 0);
    if (str(spec, 'nodeName') === '' || phase === 'Failed' || phase === 'Succeeded') return 0;
    return period < 0 ? 1 : period;
  },
  subresources: {
    status: {
      prepareForUpdate(object, old) {
        keep(object, old, 'spec');
        delete metadata(object)['deletionTimestamp'];
        keepMeta(object, old, 'ownerReferences');
      },
      validateUpdate: (object, _old, errors) => validatePodStatus(object, errors),
    },
    ephemeralcontainers: {
      prepareForUpdate(object, old) {
        const asked = clone(get(dict(object, 'spec'), 'ephemeralContainers'));
        const { resourceVersion } = metadata(object);
        for (const field of Object.keys(object)) delete object[field];
        Object.assign(object, clone(old));
        put(metadata(object), 'resourceVersion', resourceVersion);
        const spec = dict(object, 'spec');
        if (spec !== undefined && asked !== undefined) put(spec, 'ephemeralContainers', asked);
      },
      validateUpdate(object, old, errors) {
        const before = new Map(
          dicts(dict(old, 'spec'), 'ephemeralContainers').map((one) => [str(one, 'name'), JSON.stringify(one)]),
        );
        const now = dicts(dict(object, 'spec'), 'ephemeralContainers');
        const at = path('spec', 'ephemeralContainers');
        for (const [name, text] of before) {
          const kept = now.find((one) => str(one, 'name') === name);
          if (kept === undefined) errors.forbidden(at, `existing ephemeral containers "${name}" may not be removed\n`);
          else if (JSON.stringify(kept) !== text)
            errors.forbidden(at, `existing ephemeral containers "${name}" may not be changed\n`);
        }
        now.forEach((one, index) => {
          if (str(one, 'name') === '') errors.required(at.index(index).child('name'));
          if (str(one, 'image') === '') errors.required(at.index(index).child('image'));
        });
      },
    },
  },
};
