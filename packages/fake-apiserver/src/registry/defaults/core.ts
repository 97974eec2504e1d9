// Defaults of the core types.
// Upstream: kubernetes@v1.30.3:pkg/apis/core/v1/defaults.go
import {
  clone,
  type Draft,
  dict,
  dicts,
  ensure,
  get,
  has,
  list,
  num,
  put,
  setDefault,
  setDefaultText,
  str,
} from '../draft.ts';
import { metadata } from '../validation/object-meta.ts';
import type { TypeDefault } from './defaulter.ts';
import { imageTag } from './image.ts';

const CLIENT_IP_SECONDS = 10_800;
const MODE_0644 = 0o644;

function container(value: Draft): void {
  setDefaultText(value, 'imagePullPolicy', imageTag(str(value, 'image')) === 'latest' ? 'Always' : 'IfNotPresent');
  setDefaultText(value, 'terminationMessagePath', '/dev/termination-log');
  setDefaultText(value, 'terminationMessagePolicy', 'File');
}

/** Requests follow limits. */
function requestsFromLimits(value: Draft): void {
  const limits = dict(value, 'resources', 'limits');
  if (limits === undefined) return;
  const requests = ensure(value, 'resources', 'requests');
  for (const key of Object.keys(limits)) setDefault(requests, key, limits[key]);
}

function hostNetworkPorts(spec: Draft): void {
  if (get(spec, 'hostNetwork') !== true) return;
  for (const field of ['containers', 'initContainers']) {
    for (const one of dicts(spec, field)) {
      for (const port of dicts(one, 'ports')) {
        if ((num(port, 'hostPort') ?? 0) === 0) put(port, 'hostPort', get(port, 'containerPort'));
      }
    }
  }
}

function pod(value: Draft): void {
  const spec = ensure(value, 'spec');
  for (const one of [...dicts(spec, 'containers'), ...dicts(spec, 'initContainers')]) requestsFromLimits(one);
  setDefault(spec, 'enableServiceLinks', true);
  hostNetworkPorts(spec);
}

function podSpec(value: Draft): void {
  setDefaultText(value, 'dnsPolicy', 'ClusterFirst');
  setDefaultText(value, 'restartPolicy', 'Always');
  setDefault(value, 'securityContext', {});
  setDefault(value, 'terminationGracePeriodSeconds', 30);
  setDefaultText(value, 'schedulerName', 'default-scheduler');
  // Two names of one field: conversion keeps both.
  const account = str(value, 'serviceAccountName') || str(value, 'serviceAccount');
  if (account !== '') {
    put(value, 'serviceAccountName', account);
    put(value, 'serviceAccount', account);
  }
}

const VOLUME_SOURCES_ABSENT = (volume: Draft): boolean =>
  Object.keys(volume).every((field) => field === 'name' || !has(volume, field));

function probe(value: Draft): void {
  const seconds = { timeoutSeconds: 1, periodSeconds: 10, successThreshold: 1, failureThreshold: 3 };
  for (const [field, fallback] of Object.entries(seconds)) {
    if ((num(value, field) ?? 0) === 0) put(value, field, fallback);
  }
}

export function isExternallyAccessible(service: Draft): boolean {
  const spec = dict(service, 'spec');
  const type = str(spec, 'type');
  const externalIPs = get(spec, 'externalIPs');
  return (
    type === 'LoadBalancer' ||
    type === 'NodePort' ||
    (type === 'ClusterIP' && Array.isArray(externalIPs) && externalIPs.length > 0)
  );
}

function sessionAffinity(spec: Draft): void {
  setDefaultText(spec, 'sessionAffinity', 'None');
  const affinity = str(spec, 'sessionAffinity');
  if (affinity === 'None') delete spec['sessionAffinityConfig'];
  if (affinity !== 'ClientIP') return;
  if (num(dict(spec, 'sessionAffinityConfig', 'clientIP'), 'timeoutSeconds') === undefined)
    put(spec, 'sessionAffinityConfig', { clientIP: { timeoutSeconds: CLIENT_IP_SECONDS } });
}

function service(value: Draft): void {
  const spec = ensure(value, 'spec');
  sessionAffinity(spec);
  setDefaultText(spec, 'type', 'ClusterIP');
  for (const port of dicts(spec, 'ports')) {
    setDefaultText(port, 'protocol', 'TCP');
    const target = get(port, 'targetPort');
    if (target === undefined || target === 0 || target === '') put(port, 'targetPort', num(port, 'port') ?? 0);
  }
  if (isExternallyAccessible(value)) setDefaultText(spec, 'externalTrafficPolicy', 'Cluster');
  const type = str(spec, 'type');
  if (['NodePort', 'LoadBalancer', 'ClusterIP'].includes(type)) setDefault(spec, 'internalTrafficPolicy', 'Cluster');
  if (type !== 'LoadBalancer') return;
  setDefault(spec, 'allocateLoadBalancerNodePorts', true);
  for (const ingress of dicts(dict(value, 'status', 'loadBalancer'), 'ingress')) {
    if (str(ingress, 'ip') !== '') setDefault(ingress, 'ipMode', 'VIP');
  }
}

function replicationController(value: Draft): void {
  const spec = ensure(value, 'spec');
  const labels = dict(spec, 'template', 'metadata', 'labels');
  if (labels !== undefined && Object.keys(labels).length > 0) {
    if (Object.keys(dict(spec, 'selector') ?? {}).length === 0) put(spec, 'selector', clone(labels));
    const meta = metadata(value);
    if (Object.keys(dict(meta, 'labels') ?? {}).length === 0) put(meta, 'labels', clone(labels));
  }
  setDefault(spec, 'replicas', 1);
}

function limitRangeItem(value: Draft): void {
  if (str(value, 'type') !== 'Container') return;
  const fallback = ensure(value, 'default');
  const request = ensure(value, 'defaultRequest');
  const copy = (from: Draft | undefined, to: Draft): void => {
    for (const key of Object.keys(from ?? {})) setDefault(to, key, from![key]);
  };
  copy(dict(value, 'max'), fallback);
  copy(fallback, request);
  copy(dict(value, 'min'), request);
}

function secret(value: Draft): void {
  setDefaultText(value, 'type', 'Opaque');
  const plain = dict(value, 'stringData');
  if (plain === undefined) return;
  const data = ensure(value, 'data');
  for (const key of Object.keys(plain)) {
    const text = plain[key];
    if (typeof text === 'string') put(data, key, Buffer.from(text, 'utf8').toString('base64'));
  }
  delete value['stringData'];
}

function namespace(value: Draft): void {
  const meta = metadata(value);
  const name = str(meta, 'name');
  if (name !== '') put(ensure(meta, 'labels'), 'kubernetes.io/metadata.name', name);
  setDefaultText(ensure(value, 'status'), 'phase', 'Active');
}

const mode: TypeDefault = (value) => setDefault(value, 'defaultMode', MODE_0644);

const rbd: TypeDefault = (value) => {
  setDefaultText(value, 'pool', 'rbd');
  setDefaultText(value, 'user', 'admin');
  setDefaultText(value, 'keyring', '/etc/ceph/keyring');
};
const scaleIO: TypeDefault = (value) => {
  setDefaultText(value, 'storageMode', 'ThinProvisioned');
  setDefaultText(value, 'fsType', 'xfs');
};
const iscsi: TypeDefault = (value) => setDefaultText(value, 'iscsiInterface', 'default');

/** A single field and a list of the same: the single one wins, and is the first of the list. */
function singleAndList(
  value: Draft,
  single: string,
  plural: string,
  of: (item: unknown) => string,
  make: (text: string) => unknown,
): void {
  const text = str(value, single);
  const items = list(value, plural);
  if (text !== '' && (items.length === 0 || of(items[0]) !== text)) put(value, plural, [make(text)]);
  else if (text === '' && items.length > 0) put(value, single, of(items[0]));
}

function nodeRanges(spec: Draft): void {
  singleAndList(spec, 'podCIDR', 'podCIDRs', String, (text) => text);
}

function podAddresses(status: Draft): void {
  const ip = (item: unknown): string => str(dict({ item }, 'item'), 'ip');
  singleAndList(status, 'podIP', 'podIPs', ip, (text) => ({ ip: text }));
}

/** By Go type name in `k8s.io/api/core/v1`. */
export const coreDefaults: Readonly<Record<string, TypeDefault>> = {
  Container: container,
  EphemeralContainer: container,
  NodeSpec: nodeRanges,
  Pod: pod,
  PodStatus: podAddresses,
  PodSpec: podSpec,
  Volume: (value) => {
    if (VOLUME_SOURCES_ABSENT(value)) put(value, 'emptyDir', {});
  },
  Probe: probe,
  SecretVolumeSource: mode,
  ConfigMapVolumeSource: mode,
  DownwardAPIVolumeSource: mode,
  ProjectedVolumeSource: mode,
  ServiceAccountTokenProjection: (value) => setDefault(value, 'expirationSeconds', 3600),
  ContainerPort: (value) => setDefaultText(value, 'protocol', 'TCP'),
  HTTPGetAction: (value) => {
    setDefaultText(value, 'path', '/');
    setDefaultText(value, 'scheme', 'HTTP');
  },
  GRPCAction: (value) => setDefault(value, 'service', ''),
  ObjectFieldSelector: (value) => setDefaultText(value, 'apiVersion', 'v1'),
  HostPathVolumeSource: (value) => setDefault(value, 'type', ''),
  ISCSIVolumeSource: iscsi,
  ISCSIPersistentVolumeSource: iscsi,
  RBDVolumeSource: rbd,
  RBDPersistentVolumeSource: rbd,
  ScaleIOVolumeSource: scaleIO,
  ScaleIOPersistentVolumeSource: scaleIO,
  AzureDiskVolumeSource: (value) => {
    setDefault(value, 'cachingMode', 'ReadWrite');
    setDefault(value, 'kind', 'Shared');
    setDefault(value, 'fsType', 'ext4');
    setDefault(value, 'readOnly', false);
  },
  Service: service,
  ReplicationController: replicationController,
  LimitRangeItem: limitRangeItem,
  Secret: secret,
  Namespace: namespace,
  EndpointPort: (value) => setDefaultText(value, 'protocol', 'TCP'),
  PersistentVolume: (value) => {
    setDefaultText(ensure(value, 'status'), 'phase', 'Pending');
    const spec = ensure(value, 'spec');
    setDefaultText(spec, 'persistentVolumeReclaimPolicy', 'Retain');
    setDefault(spec, 'volumeMode', 'Filesystem');
  },
  PersistentVolumeClaim: (value) => setDefaultText(ensure(value, 'status'), 'phase', 'Pending'),
  PersistentVolumeClaimSpec: (value) => setDefault(value, 'volumeMode', 'Filesystem'),
  NodeStatus: (value) => {
    const capacity = dict(value, 'capacity');
    if (capacity !== undefined && !has(value, 'allocatable')) put(value, 'allocatable', clone(capacity));
  },
};
