// Networking, policy, RBAC, storage, scheduling, flow control, admission registration, certificates and leases.
import { bool, type Draft, dict, dicts, get, has, list, num, str, strings } from '../draft.ts';
import { metadata } from '../validation/object-meta.ts';
import { count, firstThree, formatSelector, loadBalancerAddresses, NONE, text, UNSET } from './cells.ts';
import { age, humanDuration, name, type PrintCells } from './printer.ts';

function hosts(object: Draft): string {
  const rules = dicts(dict(object, 'spec'), 'rules');
  const named = rules.map((rule) => str(rule, 'host'));
  const shown: string[] = [];
  let more = false;
  for (const host of named) {
    if (shown.length === 3) more = true;
    if (!more && host !== '') shown.push(host);
  }
  if (shown.length === 0) return '*';
  return more ? `${shown.join(',')} + ${rules.length - 3} more...` : shown.join(',');
}

const ingress: PrintCells = (object, now) => {
  const spec = dict(object, 'spec');
  return [
    name(object),
    has(spec, 'ingressClassName') ? str(spec, 'ingressClassName') : NONE,
    hosts(object),
    loadBalancerAddresses(object),
    dicts(spec, 'tls').length > 0 ? '80, 443' : '80',
    age(object, now),
  ];
};

const ingressClass: PrintCells = (object, now) => {
  const parameters = dict(object, 'spec', 'parameters');
  const group = get(parameters, 'apiGroup');
  const kind = str(parameters, 'kind') + (typeof group === 'string' ? `.${group}` : '');
  return [
    name(object),
    str(dict(object, 'spec'), 'controller'),
    parameters === undefined ? NONE : `${kind}/${str(parameters, 'name')}`,
    age(object, now),
  ];
};

const endpointSlice: PrintCells = (object, now) => {
  const ports = dicts(object, 'ports').map((port) =>
    has(port, 'port') ? String(num(port, 'port')) : has(port, 'name') ? str(port, 'name') : '*',
  );
  const addresses = dicts(object, 'endpoints').flatMap((endpoint) => strings(endpoint, 'addresses'));
  return [
    name(object),
    str(object, 'addressType'),
    firstThree(ports, UNSET),
    firstThree(addresses, UNSET),
    age(object, now),
  ];
};

const disruptionBudget: PrintCells = (object, now) => {
  const spec = dict(object, 'spec');
  return [
    name(object),
    has(spec, 'minAvailable') ? text(get(spec, 'minAvailable')) : 'N/A',
    has(spec, 'maxUnavailable') ? text(get(spec, 'maxUnavailable')) : 'N/A',
    count(dict(object, 'status'), 'disruptionsAllowed'),
    age(object, now),
  ];
};

const binding: PrintCells = (object, now) => {
  const role = dict(object, 'roleRef');
  const of = (kind: string, show: (subject: Draft) => string): string =>
    dicts(object, 'subjects')
      .filter((subject) => str(subject, 'kind') === kind)
      .map(show)
      .join(', ');
  return [
    name(object),
    `${str(role, 'kind')}/${str(role, 'name')}`,
    age(object, now),
    of('User', (subject) => str(subject, 'name')),
    of('Group', (subject) => str(subject, 'name')),
    of('ServiceAccount', (subject) => `${str(subject, 'namespace')}/${str(subject, 'name')}`),
  ];
};

const storageClass: PrintCells = (object, now) => {
  const annotations = dict(metadata(object), 'annotations');
  const isDefault = ['storageclass.kubernetes.io/is-default-class', 'storageclass.beta.kubernetes.io/is-default-class'];
  const suffix = isDefault.some((key) => str(annotations, key) === 'true') ? ' (default)' : '';
  return [
    name(object) + suffix,
    str(object, 'provisioner'),
    str(object, 'reclaimPolicy') || 'Delete',
    str(object, 'volumeBindingMode') || 'Immediate',
    bool(object, 'allowVolumeExpansion'),
    age(object, now),
  ];
};

const csiDriver: PrintCells = (object, now) => {
  const spec = dict(object, 'spec');
  const audiences = dicts(spec, 'tokenRequests').map((request) => str(request, 'audience'));
  return [
    name(object),
    get(spec, 'attachRequired') !== false,
    bool(spec, 'podInfoOnMount'),
    bool(spec, 'storageCapacity'),
    has(spec, 'tokenRequests') ? audiences.join(',') : UNSET,
    bool(spec, 'requiresRepublish'),
    strings(spec, 'volumeLifecycleModes').join(',') || NONE,
    age(object, now),
  ];
};

const flowSchema: PrintCells = (object, now) => {
  const spec = dict(object, 'spec');
  const dangling = dicts(dict(object, 'status'), 'conditions').find(
    (condition) => str(condition, 'type') === 'Dangling',
  );
  return [
    name(object),
    str(dict(spec, 'priorityLevelConfiguration'), 'name'),
    count(spec, 'matchingPrecedence'),
    str(dict(spec, 'distinguisherMethod'), 'type') || NONE,
    age(object, now),
    dangling === undefined ? '?' : str(dangling, 'status'),
  ];
};

const priorityLevel: PrintCells = (object, now) => {
  const spec = dict(object, 'spec');
  const limited = dict(spec, 'limited');
  const exempt = dict(spec, 'exempt');
  const shares = num(limited, 'nominalConcurrencyShares') ?? num(exempt, 'nominalConcurrencyShares');
  const queuing = dict(limited, 'limitResponse', 'queuing');
  return [
    name(object),
    str(spec, 'type'),
    shares ?? NONE,
    ...['queues', 'handSize', 'queueLengthLimit'].map((field) => num(queuing, field) ?? NONE),
    age(object, now),
  ];
};

function requestState(object: Draft): string {
  const types = dicts(dict(object, 'status'), 'conditions').map((condition) => str(condition, 'type'));
  let state = types.includes('Denied') ? 'Denied' : types.includes('Approved') ? 'Approved' : 'Pending';
  if (types.includes('Failed')) state += ',Failed';
  if (str(dict(object, 'status'), 'certificate') !== '') state += ',Issued';
  return state;
}

const signingRequest: PrintCells = (object, now) => {
  const spec = dict(object, 'spec');
  const seconds = num(spec, 'expirationSeconds');
  return [
    name(object),
    age(object, now),
    str(spec, 'signerName') || NONE,
    str(spec, 'username'),
    seconds === undefined ? NONE : humanDuration(seconds * 1000),
    requestState(object),
  ];
};

const policyBinding: PrintCells = (object, now) => {
  const ref = dict(object, 'spec', 'paramRef');
  const own = str(ref, 'name');
  const params = own === '' ? UNSET : `${str(ref, 'namespace') || '*'}/${own}`;
  return [name(object), str(dict(object, 'spec'), 'policyName'), params, age(object, now)];
};

const apiService: PrintCells = (object, now) => {
  const service = dict(object, 'spec', 'service');
  const available = dicts(dict(object, 'status'), 'conditions').find((one) => str(one, 'type') === 'Available');
  const state = str(available, 'status');
  const shown =
    available === undefined ? 'Unknown' : state === 'True' ? 'True' : `${state} (${str(available, 'reason')})`;
  return [
    name(object),
    service === undefined ? 'Local' : `${str(service, 'namespace')}/${str(service, 'name')}`,
    shown,
    age(object, now),
  ];
};

const webhooks: PrintCells = (object, now) => [name(object), list(object, 'webhooks').length, age(object, now)];

export const policyPrinters: Readonly<Record<string, PrintCells>> = {
  'networking.k8s.io/ingresses': ingress,
  'networking.k8s.io/ingressclasses': ingressClass,
  'networking.k8s.io/networkpolicies': (object, now) => [
    name(object),
    formatSelector(dict(object, 'spec', 'podSelector')),
    age(object, now),
  ],
  'discovery.k8s.io/endpointslices': endpointSlice,
  'policy/poddisruptionbudgets': disruptionBudget,
  'rbac.authorization.k8s.io/rolebindings': binding,
  'rbac.authorization.k8s.io/clusterrolebindings': binding,
  'storage.k8s.io/storageclasses': storageClass,
  'storage.k8s.io/csidrivers': csiDriver,
  'storage.k8s.io/csinodes': (object, now) => [
    name(object),
    list(dict(object, 'spec'), 'drivers').length,
    age(object, now),
  ],
  'storage.k8s.io/csistoragecapacities': (object) => [
    name(object),
    str(object, 'storageClassName'),
    has(object, 'capacity') ? text(get(object, 'capacity')) : UNSET,
  ],
  'storage.k8s.io/volumeattachments': (object, now) => {
    const spec = dict(object, 'spec');
    return [
      name(object),
      str(spec, 'attacher'),
      str(dict(spec, 'source'), 'persistentVolumeName'),
      str(spec, 'nodeName'),
      bool(dict(object, 'status'), 'attached'),
      age(object, now),
    ];
  },
  'scheduling.k8s.io/priorityclasses': (object, now) => [
    name(object),
    count(object, 'value'),
    bool(object, 'globalDefault'),
    age(object, now),
  ],
  'coordination.k8s.io/leases': (object, now) => [
    name(object),
    str(dict(object, 'spec'), 'holderIdentity'),
    age(object, now),
  ],
  'node.k8s.io/runtimeclasses': (object, now) => [name(object), str(object, 'handler'), age(object, now)],
  'flowcontrol.apiserver.k8s.io/flowschemas': flowSchema,
  'flowcontrol.apiserver.k8s.io/prioritylevelconfigurations': priorityLevel,
  'certificates.k8s.io/certificatesigningrequests': signingRequest,
  'admissionregistration.k8s.io/validatingwebhookconfigurations': webhooks,
  'admissionregistration.k8s.io/mutatingwebhookconfigurations': webhooks,
  'admissionregistration.k8s.io/validatingadmissionpolicies': (object, now) => {
    const kind = dict(object, 'spec', 'paramKind');
    const params = kind === undefined ? UNSET : `${str(kind, 'apiVersion')}/${str(kind, 'kind')}`;
    return [name(object), dicts(dict(object, 'spec'), 'validations').length, params, age(object, now)];
  },
  'admissionregistration.k8s.io/validatingadmissionpolicybindings': policyBinding,
  'apiregistration.k8s.io/apiservices': apiService,
};
