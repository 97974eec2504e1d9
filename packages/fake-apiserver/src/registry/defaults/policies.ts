// Defaults of networking, RBAC, storage, scheduling, discovery, flow control, admission registration and the extension APIs.
// Upstream: kubernetes@v1.30.3:pkg/apis/*/v1/defaults.go, apiextensions-apiserver@v0.30.3:pkg/apis/apiextensions/v1/defaults.go
import { type Draft, dict, dicts, ensure, get, list, put, setDefault, setDefaultText, str } from '../draft.ts';
import type { TypeDefault } from './defaulter.ts';

const RBAC = 'rbac.authorization.k8s.io';

const roleRef: TypeDefault = (value) => setDefaultText(ensure(value, 'roleRef'), 'apiGroup', RBAC);

function networkPolicy(value: Draft): void {
  const spec = ensure(value, 'spec');
  if (list(spec, 'policyTypes').length > 0) return;
  put(spec, 'policyTypes', list(spec, 'egress').length > 0 ? ['Ingress', 'Egress'] : ['Ingress']);
}

function csiDriver(value: Draft): void {
  const spec = ensure(value, 'spec');
  setDefault(spec, 'attachRequired', true);
  setDefault(spec, 'podInfoOnMount', false);
  setDefault(spec, 'storageCapacity', false);
  setDefault(spec, 'fsGroupPolicy', 'ReadWriteOnceWithFSType');
  if (list(spec, 'volumeLifecycleModes').length === 0) put(spec, 'volumeLifecycleModes', ['Persistent']);
  setDefault(spec, 'requiresRepublish', false);
  setDefault(spec, 'seLinuxMount', false);
}

function matching(value: Draft): void {
  setDefault(value, 'matchPolicy', 'Equivalent');
  setDefault(value, 'namespaceSelector', {});
  setDefault(value, 'objectSelector', {});
}

function webhook(value: Draft): void {
  setDefault(value, 'failurePolicy', 'Fail');
  matching(value);
  setDefault(value, 'timeoutSeconds', 10);
}

const allScopes: TypeDefault = (value) => setDefault(value, 'scope', '*');
const httpsPort: TypeDefault = (value) => setDefault(value, 'port', 443);

function customResourceDefinition(value: Draft): void {
  const spec = ensure(value, 'spec');
  const names = ensure(spec, 'names');
  const kind = str(names, 'kind');
  setDefaultText(names, 'singular', kind.toLowerCase());
  if (kind !== '') setDefaultText(names, 'listKind', `${kind}List`);
  setDefault(spec, 'conversion', { strategy: 'None' });
  const status = ensure(value, 'status');
  if (list(status, 'storedVersions').length > 0) return;
  const stored = dicts(spec, 'versions').find((version) => get(version, 'storage') === true);
  if (stored !== undefined) put(status, 'storedVersions', [str(stored, 'name')]);
}

const limited =
  (shares: string): TypeDefault =>
  (value) => {
    setDefault(value, shares, 30);
    setDefault(value, 'lendablePercent', 0);
  };

const flowControl = (shares: string): Readonly<Record<string, TypeDefault>> => ({
  FlowSchemaSpec: (value) => {
    if (get(value, 'matchingPrecedence') === undefined || get(value, 'matchingPrecedence') === 0)
      put(value, 'matchingPrecedence', 1000);
  },
  ExemptPriorityLevelConfiguration: (value) => {
    setDefault(value, 'nominalConcurrencyShares', 0);
    setDefault(value, 'lendablePercent', 0);
  },
  LimitedPriorityLevelConfiguration: limited(shares),
  QueuingConfiguration: (value) => {
    for (const [field, fallback] of Object.entries({ handSize: 8, queues: 64, queueLengthLimit: 50 })) {
      if ((get(value, field) ?? 0) === 0) put(value, field, fallback);
    }
  },
});

/** By package, then by Go type name. */
export const policyDefaults: Readonly<Record<string, Readonly<Record<string, TypeDefault>>>> = {
  'io.k8s.api.networking.v1': {
    NetworkPolicy: networkPolicy,
    NetworkPolicyPort: (value) => setDefault(value, 'protocol', 'TCP'),
    IngressClass: (value) => setDefault(dict(value, 'spec', 'parameters'), 'scope', 'Cluster'),
  },
  'io.k8s.api.rbac.v1': {
    RoleBinding: roleRef,
    ClusterRoleBinding: roleRef,
    Subject: (value) => {
      if (['User', 'Group'].includes(str(value, 'kind'))) setDefaultText(value, 'apiGroup', RBAC);
    },
  },
  'io.k8s.api.storage.v1': {
    CSIDriver: csiDriver,
    StorageClass: (value) => {
      setDefault(value, 'reclaimPolicy', 'Delete');
      setDefault(value, 'volumeBindingMode', 'Immediate');
    },
  },
  'io.k8s.api.scheduling.v1': {
    PriorityClass: (value) => setDefault(value, 'preemptionPolicy', 'PreemptLowerPriority'),
  },
  'io.k8s.api.discovery.v1': {
    EndpointPort: (value) => {
      setDefault(value, 'name', '');
      setDefault(value, 'protocol', 'TCP');
    },
  },
  'io.k8s.api.flowcontrol.v1': flowControl('nominalConcurrencyShares'),
  'io.k8s.api.flowcontrol.v1beta3': flowControl('nominalConcurrencyShares'),
  'io.k8s.api.admissionregistration.v1': {
    ValidatingWebhook: webhook,
    MutatingWebhook: (value) => {
      webhook(value);
      setDefault(value, 'reinvocationPolicy', 'Never');
    },
    RuleWithOperations: allScopes,
    NamedRuleWithOperations: allScopes,
    ServiceReference: httpsPort,
    ValidatingAdmissionPolicySpec: (value) => setDefault(value, 'failurePolicy', 'Fail'),
    MatchResources: matching,
  },
  'io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1': {
    CustomResourceDefinition: customResourceDefinition,
    ServiceReference: httpsPort,
  },
  'io.k8s.kube-aggregator.pkg.apis.apiregistration.v1': { ServiceReference: httpsPort },
};
