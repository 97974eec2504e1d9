// The strategy of every built-in resource, by group and resource.
import type { GroupResource } from '@kube-rx/apimachinery';
import { configMapStrategy, secretStrategy, serviceAccountStrategy } from './core/config-strategies.ts';
import { namespaceStrategy } from './core/namespace-strategy.ts';
import { nodeStrategy } from './core/node-strategy.ts';
import { podStrategy } from './core/pod-strategy.ts';
import {
  endpointsStrategy,
  limitRangeStrategy,
  podTemplateStrategy,
  resourceQuotaStrategy,
} from './core/simple-strategies.ts';
import { persistentVolumeClaimStrategy, persistentVolumeStrategy } from './core/volume-strategies.ts';
import {
  apiServiceStrategy,
  autoscalerStrategy,
  flowSchemaStrategy,
  policyBindingStrategy,
  priorityLevelStrategy,
  signingRequestStrategy,
  validatingAdmissionPolicyStrategy,
  webhookConfigurationStrategy,
} from './policy/control-strategies.ts';
import {
  clusterRoleBindingStrategy,
  clusterRoleStrategy,
  endpointSliceStrategy,
  ingressClassStrategy,
  ingressStrategy,
  leaseStrategy,
  networkPolicyStrategy,
  podDisruptionBudgetStrategy,
  priorityClassStrategy,
  roleBindingStrategy,
  roleStrategy,
  runtimeClassStrategy,
} from './policy/networking-strategies.ts';
import {
  csiDriverStrategy,
  csiNodeStrategy,
  csiStorageCapacityStrategy,
  storageClassStrategy,
  volumeAttachmentStrategy,
} from './policy/storage-strategies.ts';
import type { Strategy } from './strategy.ts';
import {
  controllerRevisionStrategy,
  daemonSetStrategy,
  deploymentStrategy,
  replicaSetStrategy,
  replicationControllerStrategy,
  statefulSetStrategy,
} from './workloads/apps-strategies.ts';
import { cronJobStrategy, jobStrategy } from './workloads/batch-strategies.ts';

const byResource: Readonly<Record<string, Strategy>> = {
  '/configmaps': configMapStrategy,
  '/secrets': secretStrategy,
  '/serviceaccounts': serviceAccountStrategy,
  '/namespaces': namespaceStrategy,
  '/nodes': nodeStrategy,
  '/pods': podStrategy,
  '/endpoints': endpointsStrategy,
  '/persistentvolumes': persistentVolumeStrategy,
  '/persistentvolumeclaims': persistentVolumeClaimStrategy,
  '/limitranges': limitRangeStrategy,
  '/resourcequotas': resourceQuotaStrategy,
  '/podtemplates': podTemplateStrategy,
  '/replicationcontrollers': replicationControllerStrategy,
  'apps/deployments': deploymentStrategy,
  'apps/replicasets': replicaSetStrategy,
  'apps/statefulsets': statefulSetStrategy,
  'apps/daemonsets': daemonSetStrategy,
  'apps/controllerrevisions': controllerRevisionStrategy,
  'batch/jobs': jobStrategy,
  'batch/cronjobs': cronJobStrategy,
  'autoscaling/horizontalpodautoscalers': autoscalerStrategy,
  'networking.k8s.io/ingresses': ingressStrategy,
  'networking.k8s.io/ingressclasses': ingressClassStrategy,
  'networking.k8s.io/networkpolicies': networkPolicyStrategy,
  'discovery.k8s.io/endpointslices': endpointSliceStrategy,
  'policy/poddisruptionbudgets': podDisruptionBudgetStrategy,
  'rbac.authorization.k8s.io/roles': roleStrategy,
  'rbac.authorization.k8s.io/clusterroles': clusterRoleStrategy,
  'rbac.authorization.k8s.io/rolebindings': roleBindingStrategy,
  'rbac.authorization.k8s.io/clusterrolebindings': clusterRoleBindingStrategy,
  'coordination.k8s.io/leases': leaseStrategy,
  'scheduling.k8s.io/priorityclasses': priorityClassStrategy,
  'node.k8s.io/runtimeclasses': runtimeClassStrategy,
  'storage.k8s.io/storageclasses': storageClassStrategy,
  'storage.k8s.io/csidrivers': csiDriverStrategy,
  'storage.k8s.io/csinodes': csiNodeStrategy,
  'storage.k8s.io/csistoragecapacities': csiStorageCapacityStrategy,
  'storage.k8s.io/volumeattachments': volumeAttachmentStrategy,
  'flowcontrol.apiserver.k8s.io/flowschemas': flowSchemaStrategy,
  'flowcontrol.apiserver.k8s.io/prioritylevelconfigurations': priorityLevelStrategy,
  'admissionregistration.k8s.io/mutatingwebhookconfigurations': webhookConfigurationStrategy,
  'admissionregistration.k8s.io/validatingwebhookconfigurations': webhookConfigurationStrategy,
  'admissionregistration.k8s.io/validatingadmissionpolicies': validatingAdmissionPolicyStrategy,
  'admissionregistration.k8s.io/validatingadmissionpolicybindings': policyBindingStrategy,
  'certificates.k8s.io/certificatesigningrequests': signingRequestStrategy,
  'apiregistration.k8s.io/apiservices': apiServiceStrategy,
};

/** Undefined for a resource without rules of its own. */
export function builtInStrategy({ group, resource }: GroupResource): Strategy | undefined {
  return byResource[`${group}/${resource}`];
}
