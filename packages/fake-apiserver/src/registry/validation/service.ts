// Services.
// Upstream: kubernetes@v1.30.3:pkg/apis/core/validation/validation.go#ValidateService, ValidateServiceUpdate
import { isDNS1123Subdomain, isValidPortNum } from '@kube-rx/apimachinery';
import { isExternallyAccessible } from '../defaults/core.ts';
import { type Draft, dict, dicts, get, has, num, str, strings } from '../draft.ts';
import { type FieldErrors, go, goStringList, path } from './field-errors.ts';
import { ipFamily, isCidr, validateCidr, validateIp, validateNonSpecialIp } from './ip.ts';
import { validateLabels } from './labels.ts';
import { dnsLabel, messages, PROTOCOLS, portNumOrName, qualifiedName } from './values.ts';

const SPEC = path('spec');
const IPS = SPEC.child('clusterIPs');
const TYPES = ['ClusterIP', 'ExternalName', 'LoadBalancer', 'NodePort'];
const KUBELET_PORT = 10_250;
const MAX_AFFINITY_SECONDS = 86_400;

const headless = (spec: Draft): boolean => {
  const ips = strings(spec, 'clusterIPs');
  return ips.length === 1 && ips[0] === 'None';
};

/** Addresses, families and their policy must agree. */
export function validateClusterIps(spec: Draft, errors: FieldErrors): void {
  if (str(spec, 'type') === 'ExternalName') return;
  const ip = str(spec, 'clusterIP');
  const ips = strings(spec, 'clusterIPs');
  const shown = go(goStringList(has(spec, 'clusterIPs') ? ips : undefined));
  if (ip !== '') {
    if (ips.length === 0) errors.required(IPS);
    else if (ips[0] !== ip) errors.invalid(IPS, shown, 'first value must match `clusterIP`');
  } else if (ips.length > 0) errors.invalid(IPS, shown, 'must be empty when `clusterIP` is not specified');
  const seen = new Set<string>();
  const families = strings(spec, 'ipFamilies');
  families.forEach((family, index) => {
    const at = SPEC.child('ipFamilies').index(index);
    if (family !== 'IPv4' && family !== 'IPv6') errors.notSupported(at, family, ['IPv4', 'IPv6']);
    if (seen.has(family)) errors.duplicate(at, family);
    seen.add(family);
  });
  const policies = ['PreferDualStack', 'RequireDualStack', 'SingleStack'];
  const policy = str(spec, 'ipFamilyPolicy');
  if (policy !== '' && !policies.includes(policy)) errors.notSupported(SPEC.child('ipFamilyPolicy'), policy, policies);
  if (!validateAddresses(ips, shown, errors) || headless(spec)) return;
  ips.slice(0, families.length).forEach((one, index) => {
    const family = families[index];
    if (ipFamily(one) === family) return;
    errors.invalid(IPS.index(index), one, `expected an ${family} value as indicated by \`ipFamilies[${index}]\``);
  });
}

/** False when some value is no address. */
function validateAddresses(ips: readonly string[], shown: unknown, errors: FieldErrors): boolean {
  let good = true;
  ips.forEach((ip, index) => {
    if (index === 0 && ip === 'None') {
      if (ips.length > 1) {
        good = false;
        errors.invalid(IPS, shown, "'None' must be the first and only value");
      }
      return;
    }
    good = validateIp(ip, IPS.index(index), errors) && good;
  });
  if (ips.length > 2) errors.invalid(IPS, shown, 'may only hold up to 2 values');
  if (good && ips.length > 1 && new Set(ips.map(ipFamily)).size < 2)
    errors.invalid(IPS, shown, 'may specify no more than one IP for each IP family');
  return good;
}

function validateByType(spec: Draft, errors: FieldErrors): void {
  const type = str(spec, 'type');
  if (type === 'LoadBalancer') {
    dicts(spec, 'ports').forEach((port, index) => {
      if (num(port, 'port') === KUBELET_PORT)
        errors.invalid(
          SPEC.child('ports').index(index),
          KUBELET_PORT,
          `may not expose port ${KUBELET_PORT} externally since it is used by kubelet`,
        );
    });
  }
  if ((type === 'LoadBalancer' || type === 'NodePort') && headless(spec))
    errors.invalid(IPS.index(0), 'None', `may not be set to 'None' for ${type} services`);
  if (type !== 'ExternalName') return;
  for (const field of ['clusterIPs', 'ipFamilies', 'ipFamilyPolicy']) {
    const set = field === 'ipFamilyPolicy' ? has(spec, field) : strings(spec, field).length > 0;
    if (set) errors.forbidden(SPEC.child(field), 'may not be set for ExternalName services');
  }
  const target = str(spec, 'externalName').replace(/\.$/, '');
  if (target === '') errors.required(SPEC.child('externalName'));
  else messages(target, isDNS1123Subdomain(target), SPEC.child('externalName'), errors);
}

function validatePorts(spec: Draft, errors: FieldErrors): void {
  const ports = dicts(spec, 'ports');
  const names = new Set<string>();
  ports.forEach((port, index) => {
    const at = SPEC.child('ports').index(index);
    const name = str(port, 'name');
    if (name === '') {
      if (ports.length > 1) errors.required(at.child('name'));
    } else {
      dnsLabel(name, at.child('name'), errors);
      if (names.has(name)) errors.duplicate(at.child('name'), name);
      names.add(name);
    }
    const number = num(port, 'port') ?? 0;
    messages(number, isValidPortNum(number), at.child('port'), errors);
    const protocol = str(port, 'protocol');
    if (protocol === '') errors.required(at.child('protocol'));
    else if (!PROTOCOLS.includes(protocol)) errors.notSupported(at.child('protocol'), protocol, PROTOCOLS);
    portNumOrName(get(port, 'targetPort'), at.child('targetPort'), errors);
    if (has(port, 'appProtocol')) qualifiedName(str(port, 'appProtocol'), at.child('appProtocol'), errors);
  });
}

function validateAffinity(spec: Draft, errors: FieldErrors): void {
  const affinity = str(spec, 'sessionAffinity');
  const config = dict(spec, 'sessionAffinityConfig');
  const at = SPEC.child('sessionAffinityConfig');
  if (affinity === '') errors.required(SPEC.child('sessionAffinity'));
  else if (affinity !== 'ClientIP' && affinity !== 'None')
    errors.notSupported(SPEC.child('sessionAffinity'), affinity, ['ClientIP', 'None']);
  if (affinity === 'None' && config !== undefined)
    errors.forbidden(at, 'must not be set when session affinity is None');
  if (affinity !== 'ClientIP') return;
  const seconds = num(dict(config, 'clientIP'), 'timeoutSeconds');
  const missing = 'when session affinity type is ClientIP';
  if (config === undefined) errors.required(at, missing);
  else if (!has(config, 'clientIP')) errors.required(at.child('clientIP'), missing);
  else if (seconds === undefined) errors.required(at.child('clientIP', 'timeoutSeconds'), missing);
  else if (seconds <= 0 || seconds > MAX_AFFINITY_SECONDS) {
    errors.invalid(
      at.child('clientIP', 'timeoutSeconds'),
      seconds,
      `must be greater than 0 and less than ${MAX_AFFINITY_SECONDS}`,
    );
  }
}

function validateUniquePorts(spec: Draft, errors: FieldErrors): void {
  const ports = dicts(spec, 'ports');
  const seen = { nodePort: new Set<string>(), port: new Set<string>() };
  const type = str(spec, 'type');
  ports.forEach((port, index) => {
    if (type === 'ClusterIP' && (num(port, 'nodePort') ?? 0) !== 0)
      errors.forbidden(
        SPEC.child('ports').index(index).child('nodePort'),
        "may not be used when `type` is 'ClusterIP'",
      );
  });
  ports.forEach((port, index) => {
    const node = num(port, 'nodePort') ?? 0;
    const id = `${str(port, 'protocol')}/${node}`;
    if (node !== 0 && seen.nodePort.has(id)) errors.duplicate(SPEC.child('ports').index(index).child('nodePort'), node);
    seen.nodePort.add(id);
  });
  ports.forEach((port, index) => {
    const id = `${str(port, 'protocol')}/${num(port, 'port')}`;
    if (seen.port.has(id)) {
      const shown = `core.ServicePort{Name:"", Protocol:${JSON.stringify(str(port, 'protocol'))}, AppProtocol:(*string)(nil), Port:${num(port, 'port')}, TargetPort:intstr.IntOrString{Type:0, IntVal:0, StrVal:""}, NodePort:0}`;
      errors.duplicate(SPEC.child('ports').index(index), go(shown));
    }
    seen.port.add(id);
  });
}

function validateLoadBalancer(object: Draft, spec: Draft, errors: FieldErrors): void {
  const balanced = str(spec, 'type') === 'LoadBalancer';
  const only = "may only be used when `type` is 'LoadBalancer'";
  const ranges = strings(spec, 'loadBalancerSourceRanges');
  const annotation = get(
    dict(object, 'metadata', 'annotations'),
    'service.beta.kubernetes.io/load-balancer-source-ranges',
  );
  if (ranges.length > 0) {
    const at = SPEC.child('LoadBalancerSourceRanges');
    if (!balanced) errors.forbidden(at, only);
    ranges.forEach((range, index) => void validateCidr(range.trim(), at.index(index), errors));
  } else if (typeof annotation === 'string') {
    const at = path('metadata', 'annotations').key('service.beta.kubernetes.io/load-balancer-source-ranges');
    if (!balanced) errors.forbidden(at, only);
    for (const range of annotation.trim() === '' ? [] : annotation.split(',')) {
      if (!isCidr(range.trim())) validateCidr(range.trim(), at, errors);
    }
  }
  if (has(spec, 'allocateLoadBalancerNodePorts') && !balanced)
    errors.forbidden(SPEC.child('allocateLoadBalancerNodePorts'), only);
  if (balanced && !has(spec, 'allocateLoadBalancerNodePorts')) errors.required(path('allocateLoadBalancerNodePorts'));
  if (!has(spec, 'loadBalancerClass')) return;
  if (balanced) qualifiedName(str(spec, 'loadBalancerClass'), SPEC.child('loadBalancerClass'), errors);
  else errors.forbidden(SPEC.child('loadBalancerClass'), only);
}

function validateTraffic(object: Draft, spec: Draft, errors: FieldErrors): void {
  const external = str(spec, 'externalTrafficPolicy');
  const at = SPEC.child('externalTrafficPolicy');
  if (!isExternallyAccessible(object)) {
    if (external !== '') errors.invalid(at, external, 'may only be set for externally-accessible services');
  } else if (external === '') errors.required(at);
  else if (external !== 'Cluster' && external !== 'Local') errors.notSupported(at, external, ['Cluster', 'Local']);
  const health = num(spec, 'healthCheckNodePort') ?? 0;
  const here = SPEC.child('healthCheckNodePort');
  if (str(spec, 'type') !== 'LoadBalancer' || external !== 'Local') {
    if (health !== 0) {
      errors.invalid(
        here,
        health,
        "may only be set when `type` is 'LoadBalancer' and `externalTrafficPolicy` is 'Local'",
      );
    }
  } else if (health === 0) errors.required(here);
  else messages(health, isValidPortNum(health), here, errors);
  const internal = str(spec, 'internalTrafficPolicy');
  const inside = SPEC.child('internalTrafficPolicy');
  if (internal === '') {
    if (['NodePort', 'LoadBalancer', 'ClusterIP'].includes(str(spec, 'type'))) errors.required(inside);
  } else if (internal !== 'Cluster' && internal !== 'Local')
    errors.notSupported(inside, internal, ['Cluster', 'Local']);
  const distribution = str(spec, 'trafficDistribution');
  if (distribution !== '' && distribution !== 'PreferClose')
    errors.notSupported(SPEC.child('trafficDistribution'), distribution, ['PreferClose']);
}

export function validateService(object: Draft, errors: FieldErrors): void {
  const spec = dict(object, 'spec') ?? {};
  const type = str(spec, 'type');
  if (dicts(spec, 'ports').length === 0 && !headless(spec) && type !== 'ExternalName')
    errors.required(SPEC.child('ports'));
  validateByType(spec, errors);
  validatePorts(spec, errors);
  validateLabels(spec, 'selector', SPEC.child('selector'), errors);
  validateAffinity(spec, errors);
  validateClusterIps(spec, errors);
  strings(spec, 'externalIPs').forEach((ip, index) => {
    const at = SPEC.child('externalIPs').index(index);
    if (validateIp(ip, at, errors)) validateNonSpecialIp(ip, at, errors);
  });
  if (type === '') errors.required(SPEC.child('type'));
  else if (!TYPES.includes(type)) errors.notSupported(SPEC.child('type'), type, TYPES);
  validateUniquePorts(spec, errors);
  validateLoadBalancer(object, spec, errors);
  validateTraffic(object, spec, errors);
}

function validateIpsUnchanged(spec: Draft, old: Draft, errors: FieldErrors): void {
  if ([spec, old].some((one) => str(one, 'type') === 'ExternalName') || (headless(spec) && headless(old))) return;
  const [now, before] = [strings(spec, 'clusterIPs'), strings(old, 'clusterIPs')];
  const shown = go(goStringList(has(spec, 'clusterIPs') ? now : undefined));
  if (now.length === before.length) {
    before.forEach((ip, index) => {
      if (ip !== now[index]) errors.invalid(IPS.index(index), shown, 'may not change once set');
    });
  } else if (now.length === 0) errors.invalid(IPS.index(0), shown, 'primary clusterIP can not be unset');
  else if (before.length > 0 && now[0] !== before[0]) errors.invalid(IPS.index(0), shown, 'may not change once set');
}

function validateFamiliesUnchanged(spec: Draft, old: Draft, errors: FieldErrors): void {
  if ([spec, old].some((one) => str(one, 'type') === 'ExternalName') || headless(spec) || headless(old)) return;
  const [now, before] = [strings(spec, 'ipFamilies'), strings(old, 'ipFamilies')];
  const first = SPEC.child('ipFamilies').index(0);
  const shown = go(`[]core.IPFamily{${now.map((family) => JSON.stringify(family)).join(', ')}}`);
  if (now.length === before.length) {
    before.forEach((family, index) => {
      if (family !== now[index]) errors.invalid(first, shown, 'may not change once set');
    });
  } else if (before.length > 0 && now.length > 0 && now[0] !== before[0])
    errors.invalid(first, go(goStringList(strings(spec, 'clusterIPs'))), 'may not change once set');
}

export function validateServiceUpdate(object: Draft, oldObject: Draft, errors: FieldErrors): void {
  const [spec, old] = [dict(object, 'spec') ?? {}, dict(oldObject, 'spec') ?? {}];
  validateIpsUnchanged(spec, old, errors);
  validateFamiliesUnchanged(spec, old, errors);
  const balanced = [spec, old].every((one) => str(one, 'type') === 'LoadBalancer');
  if (balanced && str(spec, 'loadBalancerClass') !== str(old, 'loadBalancerClass'))
    errors.invalid(SPEC.child('loadBalancerClass'), get(spec, 'loadBalancerClass') ?? null, 'may not change once set');
  const checked = balanced && [spec, old].every((one) => str(one, 'externalTrafficPolicy') === 'Local');
  if (checked && num(spec, 'healthCheckNodePort') !== num(old, 'healthCheckNodePort'))
    errors.forbidden(SPEC.child('healthCheckNodePort'), 'field is immutable');
  validateService(object, errors);
}
