// Core kinds but pods and nodes.
import { type Draft, dict, dicts, entries, get, has, list, num, str, strings } from '../draft.ts';
import { metadata } from '../validation/object-meta.ts';
import {
  accessModes,
  containerCells,
  count,
  firstThree,
  formatLabels,
  loadBalancerAddresses,
  NONE,
  UNSET,
} from './cells.ts';
import { age, ageOf, name, type PrintCells } from './printer.ts';

const keys = (object: Draft, field: string): number => Object.keys(dict(object, field) ?? {}).length;

const terminating = (object: Draft, phase: string): string =>
  has(metadata(object), 'deletionTimestamp') ? 'Terminating' : phase;

function classOf(object: Draft): string {
  const old = get(dict(metadata(object), 'annotations'), 'volume.beta.kubernetes.io/storage-class');
  return typeof old === 'string' ? old : str(dict(object, 'spec'), 'storageClassName');
}

const persistentVolume: PrintCells = (object, now) => {
  const spec = dict(object, 'spec');
  const status = dict(object, 'status');
  const claim = dict(spec, 'claimRef');
  return [
    name(object),
    str(dict(spec, 'capacity'), 'storage') || '0',
    accessModes(spec),
    str(spec, 'persistentVolumeReclaimPolicy'),
    terminating(object, str(status, 'phase')),
    claim === undefined ? '' : `${str(claim, 'namespace')}/${str(claim, 'name')}`,
    classOf(object),
    str(spec, 'volumeAttributesClassName') || UNSET,
    str(status, 'reason'),
    age(object, now),
    str(spec, 'volumeMode') || UNSET,
  ];
};

const persistentVolumeClaim: PrintCells = (object, now) => {
  const spec = dict(object, 'spec');
  const status = dict(object, 'status');
  const volume = str(spec, 'volumeName');
  return [
    name(object),
    terminating(object, str(status, 'phase')),
    volume,
    volume === '' ? '' : str(dict(status, 'capacity'), 'storage') || '0',
    volume === '' ? '' : accessModes(status),
    classOf(object),
    str(spec, 'volumeAttributesClassName') || UNSET,
    age(object, now),
    str(spec, 'volumeMode') || UNSET,
  ];
};

function externalIp(object: Draft): string {
  const spec = dict(object, 'spec');
  const external = strings(spec, 'externalIPs');
  switch (str(spec, 'type')) {
    case 'ClusterIP':
    case 'NodePort':
      return external.length > 0 ? external.join(',') : NONE;
    case 'LoadBalancer': {
      const balanced = loadBalancerAddresses(object);
      const all = [...(balanced === '' ? [] : balanced.split(',')), ...external];
      return all.length > 0 ? all.join(',') : '<pending>';
    }
    case 'ExternalName':
      return str(spec, 'externalName');
    default:
      return '<unknown>';
  }
}

const service: PrintCells = (object, now) => {
  const spec = dict(object, 'spec');
  const ports = dicts(spec, 'ports').map((port) => {
    const node = num(port, 'nodePort') ?? 0;
    const number = node > 0 ? `${num(port, 'port')}:${node}` : `${num(port, 'port')}`;
    return `${number}/${str(port, 'protocol')}`;
  });
  return [
    name(object),
    str(spec, 'type'),
    strings(spec, 'clusterIPs')[0] ?? NONE,
    externalIp(object),
    ports.join(',') || NONE,
    age(object, now),
    formatLabels(spec, 'selector'),
  ];
};

const joinHostPort = (ip: string, port: number): string => (ip.includes(':') ? `[${ip}]:${port}` : `${ip}:${port}`);

const endpoints: PrintCells = (object, now) => {
  const subsets = dicts(object, 'subsets');
  const all = subsets.flatMap((subset) => {
    const addresses = dicts(subset, 'addresses').map((address) => str(address, 'ip'));
    const ports = dicts(subset, 'ports');
    if (ports.length === 0) return addresses;
    return ports.flatMap((port) => addresses.map((ip) => joinHostPort(ip, num(port, 'port') ?? 0)));
  });
  return [name(object), subsets.length === 0 ? NONE : firstThree(all, ''), age(object, now)];
};

const event: PrintCells = (object, now) => {
  const since = (...times: readonly string[]): string => ageOf(times.find((time) => time !== '') ?? '', now);
  const eventTime = str(object, 'eventTime');
  const first = since(str(object, 'firstTimestamp'), eventTime);
  const series = dict(object, 'series');
  const last = str(object, 'lastTimestamp');
  const target = dict(object, 'involvedObject');
  const kind = str(target, 'kind').toLowerCase();
  const source = dict(object, 'source');
  const component = str(source, 'component') || str(object, 'reportingComponent');
  const instance = str(source, 'host') || str(object, 'reportingInstance');
  const total = num(object, 'count') ?? 0;
  return [
    series !== undefined ? ageOf(str(series, 'lastObservedTime'), now) : last === '' ? first : ageOf(last, now),
    str(object, 'type'),
    str(object, 'reason'),
    str(target, 'name') === '' ? kind : `${kind}/${str(target, 'name')}`,
    str(target, 'fieldPath'),
    instance === '' ? component : `${component}, ${instance}`,
    str(object, 'message').trim(),
    first,
    series === undefined ? total || 1 : count(series, 'count'),
    name(object),
  ];
};

const resourceQuota: PrintCells = (object, now) => {
  const status = dict(object, 'status');
  const used = dict(status, 'used');
  const parts: { readonly limits: string[]; readonly requests: string[] } = { limits: [], requests: [] };
  for (const [resource, hard] of entries(status, 'hard')) {
    const column = resource.startsWith('limits.') ? parts.limits : parts.requests;
    column.push(`${resource}: ${str(used, resource) || '0'}/${hard}`);
  }
  return [name(object), age(object, now), parts.requests.join(', '), parts.limits.join(', ')];
};

export const corePrinters: Readonly<Record<string, PrintCells>> = {
  '/configmaps': (object, now) => [name(object), keys(object, 'data') + keys(object, 'binaryData'), age(object, now)],
  '/secrets': (object, now) => [name(object), str(object, 'type'), keys(object, 'data'), age(object, now)],
  '/serviceaccounts': (object, now) => [name(object), list(object, 'secrets').length, age(object, now)],
  '/namespaces': (object, now) => [name(object), str(dict(object, 'status'), 'phase'), age(object, now)],
  '/services': service,
  '/endpoints': endpoints,
  '/events': event,
  'events.k8s.io/events': event,
  '/persistentvolumes': persistentVolume,
  '/persistentvolumeclaims': persistentVolumeClaim,
  '/resourcequotas': resourceQuota,
  '/podtemplates': (object) => {
    const template = dict(object, 'template');
    return [
      name(object),
      ...containerCells(dict(template, 'spec')),
      formatLabels(dict(template, 'metadata'), 'labels'),
    ];
  },
  '/componentstatuses': (object) => {
    const healthy = dicts(object, 'conditions').find((condition) => str(condition, 'type') === 'Healthy');
    const status = healthy === undefined ? 'Unknown' : str(healthy, 'status') === 'True' ? 'Healthy' : 'Unhealthy';
    return [name(object), status, str(healthy, 'message'), str(healthy, 'error')];
  },
};
