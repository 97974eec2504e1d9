// Ingresses, ingress classes and network policies.
// Upstream: kubernetes@v1.30.3:pkg/apis/networking/validation/validation.go
import {
  isDNS1035Label,
  isDNS1123Subdomain,
  isValidPortName,
  isValidPortNum,
  isWildcardDNS1123Subdomain,
} from '@kube-rx/apimachinery';
import { type Draft, dict, dicts, get, has, num, str, strings } from '../draft.ts';
import { type FieldErrors, type FieldPath, go, goStringList, path } from './field-errors.ts';
import { ipFamily, isCidr, validateCidr, validateIp } from './ip.ts';
import { validateLabelSelector } from './labels.ts';
import { metadata, nameIsDnsLabel, nameIsPathSegment, validateImmutable } from './object-meta.ts';
import { messages } from './values.ts';

const SPEC = path('spec');

function validateTypedReference(reference: Draft, at: FieldPath, errors: FieldErrors): void {
  const group = get(reference, 'apiGroup');
  if (typeof group === 'string') messages(group, isDNS1123Subdomain(group), at.child('apiGroup'), errors);
  for (const field of ['kind', 'name']) {
    const value = str(reference, field);
    if (value === '') errors.required(at.child(field), `${field} is required`);
    else messages(value, nameIsPathSegment(value, false), at.child(field), errors);
  }
}

function validateBackend(backend: Draft | undefined, at: FieldPath, errors: FieldErrors): void {
  const [resource, service] = [dict(backend, 'resource'), dict(backend, 'service')];
  if (resource !== undefined && service !== undefined) {
    errors.invalid(at, '', 'cannot set both resource and service backends');
  } else if (resource !== undefined) {
    validateTypedReference(resource, at.child('resource'), errors);
  } else if (service !== undefined) {
    const name = str(service, 'name');
    if (name === '') errors.required(at.child('service', 'name'));
    else messages(name, isDNS1035Label(name), at.child('service', 'name'), errors);
    const port = dict(service, 'port');
    const [portName, number] = [str(port, 'name'), num(port, 'number') ?? 0];
    const here = at.child('service', 'port');
    if (portName !== '' && number !== 0) errors.invalid(at, '', 'cannot set both port name & port number');
    else if (portName !== '') messages(portName, isValidPortName(portName), here.child('name'), errors);
    else if (number !== 0) messages(number, isValidPortNum(number), here.child('number'), errors);
    else errors.required(at, 'port name or number is required');
  } else errors.invalid(at, '', 'resource or service backend is required');
}

const BAD_SEQUENCES = ['//', '/./', '/../', '%2f', '%2F'];
const BAD_SUFFIXES = ['/..', '/.'];

function validatePath(one: Draft, at: FieldPath, errors: FieldErrors): void {
  const type = str(one, 'pathType');
  const text = str(one, 'path');
  const here = at.child('path');
  if (!has(one, 'pathType')) {
    errors.required(at.child('pathType'), 'pathType must be specified');
    return;
  }
  if (type === 'Exact' || type === 'Prefix') {
    if (!text.startsWith('/')) errors.invalid(here, text, 'must be an absolute path');
    for (const part of BAD_SEQUENCES) if (text.includes(part)) errors.invalid(here, text, `must not contain '${part}'`);
    for (const end of BAD_SUFFIXES) if (text.endsWith(end)) errors.invalid(here, text, `cannot end with '${end}'`);
  } else if (type === 'ImplementationSpecific') {
    if (text !== '' && !text.startsWith('/')) errors.invalid(here, text, 'must be an absolute path');
  } else errors.notSupported(at.child('pathType'), type, ['Exact', 'ImplementationSpecific', 'Prefix']);
  validateBackend(dict(one, 'backend'), at.child('backend'), errors);
}

function validateHost(host: string, at: FieldPath, errors: FieldErrors): void {
  const check = host.includes('*') ? isWildcardDNS1123Subdomain : isDNS1123Subdomain;
  messages(host, check(host), at, errors);
}

export function validateIngress(object: Draft, errors: FieldErrors): void {
  const spec = dict(object, 'spec') ?? {};
  const rules = dicts(spec, 'rules');
  const fallback = dict(spec, 'defaultBackend');
  if (rules.length === 0 && fallback === undefined)
    errors.invalid(
      SPEC,
      go(`[]networking.IngressRule${has(spec, 'rules') ? '{}' : '(nil)'}`),
      'either `defaultBackend` or `rules` must be specified',
    );
  if (fallback !== undefined) validateBackend(fallback, SPEC.child('defaultBackend'), errors);
  rules.forEach((rule, index) => {
    const at = SPEC.child('rules').index(index);
    const host = str(rule, 'host');
    if (host !== '') {
      if (ipFamily(host) !== undefined) errors.invalid(at.child('host'), host, 'must be a DNS name, not an IP address');
      validateHost(host, at.child('host'), errors);
    }
    const http = dict(rule, 'http');
    if (http === undefined) return;
    const paths = dicts(http, 'paths');
    if (paths.length === 0) errors.required(at.child('http', 'paths'));
    paths.forEach((one, i) => {
      validatePath(one, at.child('http', 'paths').index(i), errors);
    });
  });
  dicts(spec, 'tls').forEach((tls, index) => {
    const at = SPEC.child('tls').index(index);
    strings(tls, 'hosts').forEach((host, i) => {
      validateHost(host, at.child('hosts').index(i), errors);
    });
    const secret = str(tls, 'secretName');
    if (secret !== '') messages(secret, isDNS1123Subdomain(secret), at.child('secretName'), errors);
  });
  const name = get(spec, 'ingressClassName');
  if (typeof name === 'string') messages(name, isDNS1123Subdomain(name), SPEC.child('ingressClassName'), errors);
}

const CLASS_ANNOTATION = 'kubernetes.io/ingress.class';

export function validateIngressCreate(object: Draft, errors: FieldErrors): void {
  validateIngress(object, errors);
  const annotation = get(dict(metadata(object), 'annotations'), CLASS_ANNOTATION);
  const name = get(dict(object, 'spec'), 'ingressClassName');
  if (annotation !== undefined && name !== undefined && annotation !== name)
    errors.invalid(
      path('annotations', CLASS_ANNOTATION),
      annotation,
      'must match `ingressClassName` when both are specified',
    );
}

export function validateIngressStatus(object: Draft, errors: FieldErrors): void {
  dicts(dict(object, 'status', 'loadBalancer'), 'ingress').forEach((one, index) => {
    const at = path('status', 'loadBalancer', 'ingress').index(index);
    const [ip, hostname] = [str(one, 'ip'), str(one, 'hostname')];
    if (ip !== '') validateIp(ip, at.child('ip'), errors);
    if (hostname === '') return;
    messages(hostname, isDNS1123Subdomain(hostname), at.child('hostname'), errors);
    if (ipFamily(hostname) !== undefined)
      errors.invalid(at.child('hostname'), hostname, 'must be a DNS name, not an IP address');
  });
}

const MAX_CONTROLLER = 250;
const HTTP_PATH = "[A-Za-z0-9/\\-._~%!$&'()*+,;=:]+";

function validateDomainPath(text: string, at: FieldPath, errors: FieldErrors): void {
  if (text === '') {
    errors.required(at);
    return;
  }
  const slash = text.indexOf('/');
  const [host, rest] = [text.slice(0, Math.max(slash, 0)), text.slice(slash + 1)];
  if (slash < 0 || host === '' || rest === '') {
    errors.invalid(at, text, 'must be a domain-prefixed path (such as "acme.io/foo")');
    return;
  }
  messages(host, isDNS1123Subdomain(host), at, errors);
  if (!new RegExp(`^${HTTP_PATH}$`).test(rest))
    errors.invalid(at, rest, `Invalid path (regex used for validation is '${HTTP_PATH}')`);
}

export function validateIngressClass(object: Draft, errors: FieldErrors): void {
  const spec = dict(object, 'spec') ?? {};
  const controller = str(spec, 'controller');
  if (controller.length > MAX_CONTROLLER) errors.tooLong(SPEC.child('controller'), MAX_CONTROLLER);
  validateDomainPath(controller, SPEC.child('controller'), errors);
  const parameters = dict(spec, 'parameters');
  if (parameters === undefined) return;
  const at = SPEC.child('parameters');
  validateTypedReference(parameters, at, errors);
  const [scope, namespace] = [str(parameters, 'scope'), get(parameters, 'namespace')];
  if (scope === 'Namespace') {
    if (typeof namespace !== 'string')
      errors.required(at.child('namespace'), "`parameters.scope` is set to 'Namespace'");
    else messages(namespace, nameIsDnsLabel(namespace, false), at.child('namespace'), errors);
  } else if (scope === 'Cluster') {
    if (namespace !== undefined) errors.forbidden(at.child('namespace'), "`parameters.scope` is set to 'Cluster'");
  } else errors.notSupported(at.child('scope'), scope, ['Cluster', 'Namespace']);
}

export function validateIngressClassUpdate(object: Draft, old: Draft, errors: FieldErrors): void {
  const controller = (subject: Draft): unknown => get(dict(subject, 'spec'), 'controller');
  validateImmutable(controller(object), controller(old), errors, SPEC.child('controller'));
  validateIngressClass(object, errors);
}

function validatePolicyPort(port: Draft, at: FieldPath, errors: FieldErrors): void {
  const protocol = str(port, 'protocol');
  if (protocol !== '' && !['TCP', 'UDP', 'SCTP'].includes(protocol))
    errors.notSupported(at.child('protocol'), protocol, ['TCP', 'UDP', 'SCTP']);
  const [value, end] = [get(port, 'port'), num(port, 'endPort')];
  if (typeof value === 'number') {
    messages(value, isValidPortNum(value), at.child('port'), errors);
    if (end === undefined) return;
    if (end < value) errors.invalid(at.child('endPort'), value, 'must be greater than or equal to `port`');
    messages(end, isValidPortNum(end), at.child('endPort'), errors);
  } else if (typeof value === 'string') {
    if (end !== undefined) errors.invalid(at.child('endPort'), end, 'may not be specified when `port` is non-numeric');
    messages(value, isValidPortName(value), at.child('port'), errors);
  } else if (end !== undefined)
    errors.invalid(at.child('endPort'), end, 'may not be specified when `port` is not specified');
}

/** The leading bits of an IPv4 address, undefined for other families. */
function v4Prefix(cidr: string): { readonly address: number; readonly bits: number } | undefined {
  const [address = '', bits = ''] = cidr.split('/');
  if (ipFamily(address) !== 'IPv4' || address.includes(':')) return undefined;
  return { address: address.split('.').reduce((sum, part) => sum * 256 + Number(part), 0), bits: Number(bits) };
}

function isStrictSubset(inner: string, outer: string): boolean {
  const [a, b] = [v4Prefix(inner), v4Prefix(outer)];
  if (a === undefined || b === undefined) return Number(inner.split('/')[1]) > Number(outer.split('/')[1]);
  const size = 2 ** (32 - b.bits);
  return a.bits > b.bits && Math.floor(a.address / size) === Math.floor(b.address / size);
}

function validatePeer(peer: Draft, at: FieldPath, errors: FieldErrors): void {
  const [pods, namespaces, block] = ['podSelector', 'namespaceSelector', 'ipBlock'].map((field) => dict(peer, field));
  validateLabelSelector(pods, at.child('podSelector'), errors);
  validateLabelSelector(namespaces, at.child('namespaceSelector'), errors);
  if (block !== undefined) {
    const cidr = str(block, 'cidr');
    const here = at.child('ipBlock');
    if (cidr === '') errors.required(here.child('cidr'));
    else if (validateCidr(cidr, here.child('cidr'), errors)) {
      strings(block, 'except').forEach((one, index) => {
        const there = here.child('except').index(index);
        if (!isCidr(one)) validateCidr(one, there, errors);
        else if (!isStrictSubset(one, cidr)) errors.invalid(there, one, 'must be a strict subset of `cidr`');
      });
    }
  }
  const found = [pods, namespaces, block].filter((one) => one !== undefined).length;
  if (found === 0) errors.required(at, 'must specify a peer');
  else if (found > 1 && block !== undefined) errors.forbidden(at, 'may not specify both ipBlock and another peer');
}

export function validateNetworkPolicy(object: Draft, errors: FieldErrors): void {
  const spec = dict(object, 'spec') ?? {};
  validateLabelSelector(dict(spec, 'podSelector'), SPEC.child('podSelector'), errors);
  for (const [field, peers] of [
    ['ingress', 'from'],
    ['egress', 'to'],
  ] as const) {
    dicts(spec, field).forEach((rule, index) => {
      const at = SPEC.child(field).index(index);
      dicts(rule, 'ports').forEach((port, i) => {
        validatePolicyPort(port, at.child('ports').index(i), errors);
      });
      dicts(rule, peers).forEach((peer, i) => {
        validatePeer(peer, at.child(peers).index(i), errors);
      });
    });
  }
  const types = strings(spec, 'policyTypes');
  if (types.length > 2) {
    errors.invalid(
      SPEC.child('policyTypes'),
      go(goStringList(types).replace('string', 'networking.PolicyType')),
      'may not specify more than two policyTypes',
    );
    return;
  }
  types.forEach((type, index) => {
    if (type !== 'Ingress' && type !== 'Egress')
      errors.notSupported(SPEC.child('policyTypes').index(index), type, ['Ingress', 'Egress']);
  });
}
