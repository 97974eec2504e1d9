// The spec of a pod, of its own or in a template.
// Upstream: kubernetes@v1.30.3:pkg/apis/core/validation/validation.go#ValidatePodSpec
import { isDNS1123Subdomain, isQualifiedName, isValidLabelValue } from '@kube-rx/apimachinery';
import { bool, type Draft, dict, dicts, has, num, str, strings } from '../draft.ts';
import { validateAffinity } from './affinity.ts';
import { validateContainers, validateInitContainers } from './container.ts';
import { type FieldErrors, type FieldPath, go } from './field-errors.ts';
import { validateIp } from './ip.ts';
import { validateLabelName, validateLabelSelector, validateLabels } from './labels.ts';
import { validatePodSecurityContext } from './pod-security-context.ts';
import { dnsLabel, messages, oneOf } from './values.ts';
import { validateVolumes } from './volumes.ts';
import { validateForOs, validateOs } from './windows-pod.ts';

const MAX_SEARCHES = 32;
const MAX_SEARCH_CHARS = 2048;
const MAX_INT32 = 2_147_483_647;
const EFFECTS = ['NoSchedule', 'PreferNoSchedule', 'NoExecute'];

export function validateTolerations(spec: Draft | undefined, at: FieldPath, errors: FieldErrors): void {
  dicts(spec, 'tolerations').forEach((toleration, index) => {
    const here = at.child('tolerations').index(index);
    const [key, operator, value, effect] = ['key', 'operator', 'value', 'effect'].map((f) => str(toleration, f)) as [
      string,
      string,
      string,
      string,
    ];
    if (key !== '') validateLabelName(key, here.child('key'), errors);
    else if (operator !== 'Exists') {
      errors.invalid(
        here.child('operator'),
        operator,
        'operator must be Exists when `key` is empty, which means "match all values and all keys"',
      );
    }
    if (has(toleration, 'tolerationSeconds') && effect !== 'NoExecute')
      errors.invalid(here.child('effect'), effect, "effect must be 'NoExecute' when `tolerationSeconds` is set");
    if (operator === 'Exists') {
      if (value !== '') {
        errors.invalid(
          here.child('operator'),
          go(
            `core.Toleration{Key:${JSON.stringify(key)}, Operator:"Exists", Value:${JSON.stringify(value)}, Effect:${JSON.stringify(effect)}, TolerationSeconds:(*int64)(nil)}`,
          ),
          "value must be empty when `operator` is 'Exists'",
        );
      }
    } else if (operator === '' || operator === 'Equal') {
      const wrong = isValidLabelValue(value);
      if (wrong.length > 0) errors.invalid(here.child('operator'), value, wrong.join(';'));
    } else errors.notSupported(here.child('operator'), operator, ['Equal', 'Exists']);
    if (effect !== '' && !EFFECTS.includes(effect)) errors.notSupported(here.child('effect'), effect, EFFECTS);
  });
}

function validateSpread(spec: Draft, at: FieldPath, errors: FieldErrors): void {
  const all = dicts(spec, 'topologySpreadConstraints');
  all.forEach((constraint, index) => {
    const here = at.child('topologySpreadConstraints').index(index);
    const skew = num(constraint, 'maxSkew') ?? 0;
    if (skew <= 0) errors.invalid(here.child('maxSkew'), skew, 'must be greater than zero');
    const [key, action] = [str(constraint, 'topologyKey'), str(constraint, 'whenUnsatisfiable')];
    if (key === '') errors.required(here.child('topologyKey'), 'can not be empty');
    const actions = ['DoNotSchedule', 'ScheduleAnyway'];
    if (!actions.includes(action)) errors.notSupported(here.child('whenUnsatisfiable'), action, actions);
    const again = all
      .slice(index + 1)
      .some((other) => str(other, 'topologyKey') === key && str(other, 'whenUnsatisfiable') === action);
    if (again) errors.duplicate(here.child('{topologyKey, whenUnsatisfiable}'), `{${key}, ${action}}`);
    const domains = num(constraint, 'minDomains');
    if (domains !== undefined) {
      if (domains <= 0) errors.invalid(here.child('minDomains'), domains, 'must be greater than zero');
      if (action !== 'DoNotSchedule')
        errors.invalid(
          here.child('minDomains'),
          domains,
          `can only use minDomains if whenUnsatisfiable=DoNotSchedule, not ${action}`,
        );
    }
    for (const field of ['nodeAffinityPolicy', 'nodeTaintsPolicy']) {
      const policy = str(constraint, field);
      if (policy !== '' && !['Honor', 'Ignore'].includes(policy))
        errors.notSupported(here.child(field), policy, ['Honor', 'Ignore']);
    }
    validateLabelSelector(dict(constraint, 'labelSelector'), here.child('labelSelector'), errors);
  });
}

/** Templates may leave host ports to the pods made of them. */
function validateHostNetwork(spec: Draft, isPod: boolean, at: FieldPath, errors: FieldErrors): void {
  if (!bool(spec, 'hostNetwork')) return;
  dicts(spec, 'containers').forEach((container, index) => {
    dicts(container, 'ports').forEach((port, i) => {
      const [host, own] = [num(port, 'hostPort') ?? 0, num(port, 'containerPort') ?? 0];
      if (host === own || (host === 0 && !isPod)) return;
      const here = at.child('containers').index(index).child('ports').index(i).child('hostPort');
      errors.invalid(here, host, 'must match `containerPort` when `hostNetwork` is true');
    });
  });
}

function validateDnsConfig(spec: Draft, at: FieldPath, errors: FieldErrors): void {
  const config = dict(spec, 'dnsConfig');
  const here = at.child('dnsConfig');
  const servers = strings(config, 'nameservers');
  if (str(spec, 'dnsPolicy') === 'None') {
    const detail = 'must provide at least one DNS nameserver when `dnsPolicy` is None';
    if (config === undefined) errors.required(here, 'must provide `dnsConfig` when `dnsPolicy` is None');
    else if (servers.length === 0) errors.required(here.child('nameservers'), detail);
    if (servers.length === 0) return;
  }
  if (servers.length > 3) errors.invalid(here.child('nameservers'), servers, 'must not have more than 3 nameservers');
  servers.forEach((server, index) => {
    validateIp(server, here.child('nameservers').index(index), errors);
  });
  const searches = strings(config, 'searches');
  const there = here.child('searches');
  if (searches.length > MAX_SEARCHES)
    errors.invalid(there, searches, `must not have more than ${MAX_SEARCHES} search paths`);
  if (searches.join(' ').length > MAX_SEARCH_CHARS) {
    const detail = `must not have more than ${MAX_SEARCH_CHARS} characters (including spaces) in the search list`;
    errors.invalid(there, searches, detail);
  }
  searches.forEach((search, index) => {
    const name = search.replace(/\.$/, '');
    messages(name, isDNS1123Subdomain(name), there.index(index), errors);
  });
  dicts(config, 'options').forEach((option, index) => {
    if (str(option, 'name') === '') errors.required(here.child('options').index(index), 'must not be empty');
  });
}

function validateNames(spec: Draft, at: FieldPath, errors: FieldErrors): void {
  for (const field of ['serviceAccountName', 'nodeName']) {
    const name = str(spec, field);
    if (name !== '') messages(name, isDNS1123Subdomain(name), at.child(field), errors);
  }
  const deadline = num(spec, 'activeDeadlineSeconds');
  if (deadline !== undefined && (deadline < 1 || deadline > MAX_INT32))
    errors.invalid(at.child('activeDeadlineSeconds'), deadline, `must be between 1 and ${MAX_INT32}, inclusive`);
  for (const field of ['hostname', 'subdomain']) {
    const name = str(spec, field);
    if (name !== '') dnsLabel(name, at.child(field), errors);
  }
  validateTolerations(spec, at, errors);
  dicts(spec, 'hostAliases').forEach((alias, index) => {
    const here = at.child('hostAliases').index(index);
    validateIp(str(alias, 'ip'), here.child('ip'), errors);
    strings(alias, 'hostnames').forEach((name, i) => {
      messages(name, isDNS1123Subdomain(name), here.child('hostnames').index(i), errors);
    });
  });
  for (const field of ['priorityClassName', 'runtimeClassName']) {
    const name = str(spec, field);
    if (name !== '' || (field === 'runtimeClassName' && has(spec, field)))
      messages(name, isDNS1123Subdomain(name), at.child(field), errors);
  }
  const preemption = str(spec, 'preemptionPolicy');
  if (preemption !== '' && !['PreemptLowerPriority', 'Never'].includes(preemption))
    errors.notSupported(at.child('preemptionPolicy'), preemption, ['PreemptLowerPriority', 'Never']);
}

/** @param podName of a pod; '' in a template. */
export function validatePodSpec(spec: Draft, at: FieldPath, errors: FieldErrors, podName = ''): void {
  const volumes = validateVolumes(dicts(spec, 'volumes'), podName, at.child('volumes'), errors);
  const scope = { volumes, gracePeriodSeconds: num(spec, 'terminationGracePeriodSeconds') ?? 0 };
  const containers = dicts(spec, 'containers');
  validateContainers(containers, scope, at.child('containers'), errors);
  validateInitContainers(dicts(spec, 'initContainers'), containers, scope, at.child('initContainers'), errors);
  validateHostNetwork(spec, podName !== '', at, errors);
  oneOf(spec, 'restartPolicy', ['Always', 'OnFailure', 'Never'], at, errors);
  oneOf(spec, 'dnsPolicy', ['ClusterFirstWithHostNet', 'ClusterFirst', 'Default', 'None'], at, errors);
  validateLabels(spec, 'nodeSelector', at.child('nodeSelector'), errors);
  validatePodSecurityContext(spec, at, errors);
  validateAffinity(dict(spec, 'affinity'), at.child('affinity'), errors);
  validateDnsConfig(spec, at, errors);
  dicts(spec, 'readinessGates').forEach((gate, index) => {
    const type = str(gate, 'conditionType');
    messages(type, isQualifiedName(type), at.child('readinessGates').index(index).child('conditionType'), errors);
  });
  validateSchedulingGates(spec, at, errors);
  validateSpread(spec, at, errors);
  validateNames(spec, at, errors);
  validateOs(spec, at, errors);
  validateForOs(spec, at, errors);
}

function validateSchedulingGates(spec: Draft, at: FieldPath, errors: FieldErrors): void {
  const seen = new Set<string>();
  dicts(spec, 'schedulingGates').forEach((gate, index) => {
    const here = at.child('schedulingGates').index(index);
    const name = str(gate, 'name');
    messages(name, isQualifiedName(name), here, errors);
    if (seen.has(name)) errors.duplicate(here, name);
    seen.add(name);
  });
}
