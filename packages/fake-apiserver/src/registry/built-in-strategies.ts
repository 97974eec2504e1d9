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
import { crdStrategy } from './custom/crd-strategy.ts';
import type { Strategy } from './strategy.ts';
import {
  controllerRevisionStrategy,
  daemonSetStrategy,
  deploymentStrategy,
  replicaSetStrategy,
  replicationControllerStrategy,
  statefulSetStrategy,
} from './workloads/apps-strategies.ts';

const byResource: Readonly<Record<string, Strategy>> = {
  '/configmaps': configMapStrategy,
  '/secrets': secretStrategy,
  '/serviceaccounts': serviceAccountStrategy,
  '/namespaces': namespaceStrategy,
  '/nodes': nodeStrategy,
  '/pods': podStrategy,
  '/endpoints': endpointsStrategy,
  '/limitranges': limitRangeStrategy,
  '/resourcequotas': resourceQuotaStrategy,
  '/podtemplates': podTemplateStrategy,
  '/replicationcontrollers': replicationControllerStrategy,
  'apps/deployments': deploymentStrategy,
  'apps/replicasets': replicaSetStrategy,
  'apps/statefulsets': statefulSetStrategy,
  'apps/daemonsets': daemonSetStrategy,
  'apps/controllerrevisions': controllerRevisionStrategy,
  'apiextensions.k8s.io/customresourcedefinitions': crdStrategy,
};

/** Undefined for a resource without rules of its own. */
export function builtInStrategy({ group, resource }: GroupResource): Strategy | undefined {
  return byResource[`${group}/${resource}`];
}
