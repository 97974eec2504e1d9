// The common built-in kinds with the types of kubernetes-types. Everything else: discovery, or defineResource.

import type {
  MutatingWebhookConfiguration,
  ValidatingWebhookConfiguration,
} from 'kubernetes-types/admissionregistration/v1.js';
import type { CustomResourceDefinition } from 'kubernetes-types/apiextensions/v1.js';
import type { DaemonSet, Deployment, ReplicaSet, StatefulSet } from 'kubernetes-types/apps/v1.js';
import type { HorizontalPodAutoscaler } from 'kubernetes-types/autoscaling/v2.js';
import type { CronJob, Job } from 'kubernetes-types/batch/v1.js';
import type { CertificateSigningRequest } from 'kubernetes-types/certificates/v1.js';
import type { Lease } from 'kubernetes-types/coordination/v1.js';
import type {
  ConfigMap,
  Endpoints,
  LimitRange,
  Namespace,
  Node,
  PersistentVolume,
  PersistentVolumeClaim,
  Pod,
  ReplicationController,
  ResourceQuota,
  Secret,
  Service,
  ServiceAccount,
} from 'kubernetes-types/core/v1.js';
import type { EndpointSlice } from 'kubernetes-types/discovery/v1.js';
import type { Event } from 'kubernetes-types/events/v1.js';
import type { Ingress, IngressClass, NetworkPolicy } from 'kubernetes-types/networking/v1.js';
import type { RuntimeClass } from 'kubernetes-types/node/v1.js';
import type { PodDisruptionBudget } from 'kubernetes-types/policy/v1.js';
import type { ClusterRole, ClusterRoleBinding, Role, RoleBinding } from 'kubernetes-types/rbac/v1.js';
import type { PriorityClass } from 'kubernetes-types/scheduling/v1.js';
import type { CSIDriver, CSINode, StorageClass, VolumeAttachment } from 'kubernetes-types/storage/v1.js';
import type { ResourceType } from '../rest/resource-type.ts';
import { defineResource } from '../rest/resource-type.ts';

export const Pods: ResourceType<Pod> = defineResource<Pod>()({
  apiVersion: 'v1',
  kind: 'Pod',
  plural: 'pods',
  scope: 'Namespaced',
});
export const Services: ResourceType<Service> = defineResource<Service>()({
  apiVersion: 'v1',
  kind: 'Service',
  plural: 'services',
  scope: 'Namespaced',
});
export const ConfigMaps: ResourceType<ConfigMap> = defineResource<ConfigMap>()({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  plural: 'configmaps',
  scope: 'Namespaced',
});
export const Secrets: ResourceType<Secret> = defineResource<Secret>()({
  apiVersion: 'v1',
  kind: 'Secret',
  plural: 'secrets',
  scope: 'Namespaced',
});
export const Nodes: ResourceType<Node> = defineResource<Node>()({
  apiVersion: 'v1',
  kind: 'Node',
  plural: 'nodes',
  scope: 'Cluster',
});
export const Namespaces: ResourceType<Namespace> = defineResource<Namespace>()({
  apiVersion: 'v1',
  kind: 'Namespace',
  plural: 'namespaces',
  scope: 'Cluster',
});
export const ServiceAccounts: ResourceType<ServiceAccount> = defineResource<ServiceAccount>()({
  apiVersion: 'v1',
  kind: 'ServiceAccount',
  plural: 'serviceaccounts',
  scope: 'Namespaced',
});
export const EndpointsObjects: ResourceType<Endpoints> = defineResource<Endpoints>()({
  apiVersion: 'v1',
  kind: 'Endpoints',
  plural: 'endpoints',
  scope: 'Namespaced',
});
export const PersistentVolumes: ResourceType<PersistentVolume> = defineResource<PersistentVolume>()({
  apiVersion: 'v1',
  kind: 'PersistentVolume',
  plural: 'persistentvolumes',
  scope: 'Cluster',
});
export const PersistentVolumeClaims: ResourceType<PersistentVolumeClaim> = defineResource<PersistentVolumeClaim>()({
  apiVersion: 'v1',
  kind: 'PersistentVolumeClaim',
  plural: 'persistentvolumeclaims',
  scope: 'Namespaced',
});
export const ReplicationControllers: ResourceType<ReplicationController> = defineResource<ReplicationController>()({
  apiVersion: 'v1',
  kind: 'ReplicationController',
  plural: 'replicationcontrollers',
  scope: 'Namespaced',
});
export const LimitRanges: ResourceType<LimitRange> = defineResource<LimitRange>()({
  apiVersion: 'v1',
  kind: 'LimitRange',
  plural: 'limitranges',
  scope: 'Namespaced',
});
export const ResourceQuotas: ResourceType<ResourceQuota> = defineResource<ResourceQuota>()({
  apiVersion: 'v1',
  kind: 'ResourceQuota',
  plural: 'resourcequotas',
  scope: 'Namespaced',
});
export const Deployments: ResourceType<Deployment> = defineResource<Deployment>()({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  plural: 'deployments',
  scope: 'Namespaced',
});
export const ReplicaSets: ResourceType<ReplicaSet> = defineResource<ReplicaSet>()({
  apiVersion: 'apps/v1',
  kind: 'ReplicaSet',
  plural: 'replicasets',
  scope: 'Namespaced',
});
export const StatefulSets: ResourceType<StatefulSet> = defineResource<StatefulSet>()({
  apiVersion: 'apps/v1',
  kind: 'StatefulSet',
  plural: 'statefulsets',
  scope: 'Namespaced',
});
export const DaemonSets: ResourceType<DaemonSet> = defineResource<DaemonSet>()({
  apiVersion: 'apps/v1',
  kind: 'DaemonSet',
  plural: 'daemonsets',
  scope: 'Namespaced',
});
export const Jobs: ResourceType<Job> = defineResource<Job>()({
  apiVersion: 'batch/v1',
  kind: 'Job',
  plural: 'jobs',
  scope: 'Namespaced',
});
export const CronJobs: ResourceType<CronJob> = defineResource<CronJob>()({
  apiVersion: 'batch/v1',
  kind: 'CronJob',
  plural: 'cronjobs',
  scope: 'Namespaced',
});
export const Ingresses: ResourceType<Ingress> = defineResource<Ingress>()({
  apiVersion: 'networking.k8s.io/v1',
  kind: 'Ingress',
  plural: 'ingresses',
  scope: 'Namespaced',
});
export const IngressClasses: ResourceType<IngressClass> = defineResource<IngressClass>()({
  apiVersion: 'networking.k8s.io/v1',
  kind: 'IngressClass',
  plural: 'ingressclasses',
  scope: 'Cluster',
});
export const NetworkPolicies: ResourceType<NetworkPolicy> = defineResource<NetworkPolicy>()({
  apiVersion: 'networking.k8s.io/v1',
  kind: 'NetworkPolicy',
  plural: 'networkpolicies',
  scope: 'Namespaced',
});
export const Roles: ResourceType<Role> = defineResource<Role>()({
  apiVersion: 'rbac.authorization.k8s.io/v1',
  kind: 'Role',
  plural: 'roles',
  scope: 'Namespaced',
});
export const RoleBindings: ResourceType<RoleBinding> = defineResource<RoleBinding>()({
  apiVersion: 'rbac.authorization.k8s.io/v1',
  kind: 'RoleBinding',
  plural: 'rolebindings',
  scope: 'Namespaced',
});
export const ClusterRoles: ResourceType<ClusterRole> = defineResource<ClusterRole>()({
  apiVersion: 'rbac.authorization.k8s.io/v1',
  kind: 'ClusterRole',
  plural: 'clusterroles',
  scope: 'Cluster',
});
export const ClusterRoleBindings: ResourceType<ClusterRoleBinding> = defineResource<ClusterRoleBinding>()({
  apiVersion: 'rbac.authorization.k8s.io/v1',
  kind: 'ClusterRoleBinding',
  plural: 'clusterrolebindings',
  scope: 'Cluster',
});
export const HorizontalPodAutoscalers: ResourceType<HorizontalPodAutoscaler> =
  defineResource<HorizontalPodAutoscaler>()({
    apiVersion: 'autoscaling/v2',
    kind: 'HorizontalPodAutoscaler',
    plural: 'horizontalpodautoscalers',
    scope: 'Namespaced',
  });
export const PodDisruptionBudgets: ResourceType<PodDisruptionBudget> = defineResource<PodDisruptionBudget>()({
  apiVersion: 'policy/v1',
  kind: 'PodDisruptionBudget',
  plural: 'poddisruptionbudgets',
  scope: 'Namespaced',
});
export const StorageClasses: ResourceType<StorageClass> = defineResource<StorageClass>()({
  apiVersion: 'storage.k8s.io/v1',
  kind: 'StorageClass',
  plural: 'storageclasses',
  scope: 'Cluster',
});
export const VolumeAttachments: ResourceType<VolumeAttachment> = defineResource<VolumeAttachment>()({
  apiVersion: 'storage.k8s.io/v1',
  kind: 'VolumeAttachment',
  plural: 'volumeattachments',
  scope: 'Cluster',
});
export const CSIDrivers: ResourceType<CSIDriver> = defineResource<CSIDriver>()({
  apiVersion: 'storage.k8s.io/v1',
  kind: 'CSIDriver',
  plural: 'csidrivers',
  scope: 'Cluster',
});
export const CSINodes: ResourceType<CSINode> = defineResource<CSINode>()({
  apiVersion: 'storage.k8s.io/v1',
  kind: 'CSINode',
  plural: 'csinodes',
  scope: 'Cluster',
});
export const Leases: ResourceType<Lease> = defineResource<Lease>()({
  apiVersion: 'coordination.k8s.io/v1',
  kind: 'Lease',
  plural: 'leases',
  scope: 'Namespaced',
});
export const EndpointSlices: ResourceType<EndpointSlice> = defineResource<EndpointSlice>()({
  apiVersion: 'discovery.k8s.io/v1',
  kind: 'EndpointSlice',
  plural: 'endpointslices',
  scope: 'Namespaced',
});
export const Events: ResourceType<Event> = defineResource<Event>()({
  apiVersion: 'events.k8s.io/v1',
  kind: 'Event',
  plural: 'events',
  scope: 'Namespaced',
});
export const PriorityClasses: ResourceType<PriorityClass> = defineResource<PriorityClass>()({
  apiVersion: 'scheduling.k8s.io/v1',
  kind: 'PriorityClass',
  plural: 'priorityclasses',
  scope: 'Cluster',
});
export const CustomResourceDefinitions: ResourceType<CustomResourceDefinition> =
  defineResource<CustomResourceDefinition>()({
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    plural: 'customresourcedefinitions',
    scope: 'Cluster',
  });
export const MutatingWebhookConfigurations: ResourceType<MutatingWebhookConfiguration> =
  defineResource<MutatingWebhookConfiguration>()({
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: 'MutatingWebhookConfiguration',
    plural: 'mutatingwebhookconfigurations',
    scope: 'Cluster',
  });
export const ValidatingWebhookConfigurations: ResourceType<ValidatingWebhookConfiguration> =
  defineResource<ValidatingWebhookConfiguration>()({
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: 'ValidatingWebhookConfiguration',
    plural: 'validatingwebhookconfigurations',
    scope: 'Cluster',
  });
export const CertificateSigningRequests: ResourceType<CertificateSigningRequest> =
  defineResource<CertificateSigningRequest>()({
    apiVersion: 'certificates.k8s.io/v1',
    kind: 'CertificateSigningRequest',
    plural: 'certificatesigningrequests',
    scope: 'Cluster',
  });
export const RuntimeClasses: ResourceType<RuntimeClass> = defineResource<RuntimeClass>()({
  apiVersion: 'node.k8s.io/v1',
  kind: 'RuntimeClass',
  plural: 'runtimeclasses',
  scope: 'Cluster',
});
