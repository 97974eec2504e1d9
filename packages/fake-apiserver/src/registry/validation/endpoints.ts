// Endpoints and endpoint slices.
// Upstream: kubernetes@v1.30.3:pkg/apis/core/validation/validation.go#ValidateEndpoints, pkg/apis/discovery/validation/validation.go
import { isDNS1123Label, isDNS1123Subdomain, isValidLabelValue, isValidPortNum } from '@kube-rx/apimachinery';
import { type Draft, dict, dicts, get, has, list, num, str, strings } from '../draft.ts';
import { type FieldErrors, type FieldPath, path } from './field-errors.ts';
import { validateIp, validateIpOfFamily, validateNonSpecialIp } from './ip.ts';
import { validateLabelName } from './labels.ts';
import { validateImmutable } from './object-meta.ts';
import { dnsLabel, messages, PROTOCOLS, qualifiedName } from './values.ts';

function validateAddress(address: Draft, at: FieldPath, errors: FieldErrors): void {
  const ip = str(address, 'ip');
  validateIp(ip, at.child('ip'), errors);
  const hostname = str(address, 'hostname');
  if (hostname !== '') dnsLabel(hostname, at.child('hostname'), errors);
  const node = get(address, 'nodeName');
  if (typeof node === 'string') messages(node, isDNS1123Subdomain(node), at.child('nodeName'), errors);
  validateNonSpecialIp(ip, at.child('ip'), errors);
}

function validatePort(port: Draft, nameRequired: boolean, at: FieldPath, errors: FieldErrors): void {
  const name = str(port, 'name');
  if (name !== '') dnsLabel(name, at.child('name'), errors);
  else if (nameRequired) errors.required(at.child('name'));
  const number = num(port, 'port') ?? 0;
  messages(number, isValidPortNum(number), at.child('port'), errors);
  const protocol = str(port, 'protocol');
  if (protocol === '') errors.required(at.child('protocol'));
  else if (!PROTOCOLS.includes(protocol)) errors.notSupported(at.child('protocol'), protocol, PROTOCOLS);
  if (has(port, 'appProtocol')) qualifiedName(str(port, 'appProtocol'), at.child('appProtocol'), errors);
}

export function validateEndpoints(object: Draft, errors: FieldErrors): void {
  dicts(object, 'subsets').forEach((subset, index) => {
    const at = path('subsets').index(index);
    const ready = dicts(subset, 'addresses');
    const notReady = dicts(subset, 'notReadyAddresses');
    if (ready.length === 0 && notReady.length === 0)
      errors.required(at, 'must specify `addresses` or `notReadyAddresses`');
    ready.forEach((one, i) => void validateAddress(one, at.child('addresses').index(i), errors));
    notReady.forEach((one, i) => void validateAddress(one, at.child('notReadyAddresses').index(i), errors));
    const ports = dicts(subset, 'ports');
    ports.forEach((one, i) => void validatePort(one, ports.length > 1, at.child('ports').index(i), errors));
  });
}

const ADDRESS_TYPES = ['FQDN', 'IPv4', 'IPv6'];
const MAX_ADDRESSES = 100;
const MAX_ENDPOINTS = 1000;
const MAX_PORTS = 20_000;
const MAX_ZONE_HINTS = 8;

function validateSliceAddress(address: string, type: string, at: FieldPath, errors: FieldErrors): void {
  if (type === 'IPv4' || type === 'IPv6') {
    validateIpOfFamily(address, type, at, errors);
    validateNonSpecialIp(address, at, errors);
  } else if (type === 'FQDN') {
    const name = address.endsWith('.') ? address.slice(0, -1) : address;
    if (name === '') errors.required(at);
    else if (isDNS1123Subdomain(name).length > 0) errors.invalid(at, name, isDNS1123Subdomain(name).join(','));
    else if (!name.includes('.'))
      errors.invalid(at, name, 'should be a domain with at least two segments separated by dots');
  }
}

function validateEndpoint(endpoint: Draft, type: string, at: FieldPath, errors: FieldErrors): void {
  const addresses = strings(endpoint, 'addresses');
  if (addresses.length === 0) errors.required(at.child('addresses'), 'must contain at least 1 address');
  else if (addresses.length > MAX_ADDRESSES) errors.tooMany(at.child('addresses'), addresses.length, MAX_ADDRESSES);
  addresses.forEach((one, i) => void validateSliceAddress(one, type, at.child('addresses').index(i), errors));
  const node = get(endpoint, 'nodeName');
  if (typeof node === 'string') messages(node, isDNS1123Subdomain(node), at.child('nodeName'), errors);
  for (const key of Object.keys(dict(endpoint, 'deprecatedTopology') ?? {}))
    validateLabelName(key, at.child('deprecatedTopology'), errors);
  const hostname = get(endpoint, 'hostname');
  if (typeof hostname === 'string') messages(hostname, isDNS1123Label(hostname), at.child('hostname'), errors);
  const zones = dicts(dict(endpoint, 'hints'), 'forZones');
  if (zones.length > MAX_ZONE_HINTS) {
    errors.tooMany(at.child('hints', 'forZones'), zones.length, MAX_ZONE_HINTS);
    return;
  }
  const named = zones.map((zone) => str(zone, 'name'));
  named.forEach((zone, index) => {
    const here = at.child('hints', 'forZones').index(index).child('name');
    if (named.indexOf(zone) < index) errors.duplicate(here, zone);
    for (const text of isValidLabelValue(zone)) errors.invalid(here, zone, text);
  });
}

export function validateEndpointSlice(object: Draft, errors: FieldErrors): void {
  const type = str(object, 'addressType');
  if (type === '') errors.required(path('addressType'));
  else if (!ADDRESS_TYPES.includes(type)) errors.notSupported(path('addressType'), type, ADDRESS_TYPES);
  const endpoints = dicts(object, 'endpoints');
  if (endpoints.length > MAX_ENDPOINTS) errors.tooMany(path('endpoints'), endpoints.length, MAX_ENDPOINTS);
  else endpoints.forEach((one, i) => void validateEndpoint(one, type, path('endpoints').index(i), errors));
  const names = new Set<string>();
  const ports = list(object, 'ports');
  if (ports.length > MAX_PORTS) errors.tooMany(path('ports'), ports.length, MAX_PORTS);
  dicts(object, 'ports').forEach((port, i) => {
    const at = path('ports').index(i);
    const name = str(port, 'name');
    if (name !== '') messages(name, isDNS1123Label(name), at.child('name'), errors);
    if (names.has(name)) errors.duplicate(at.child('name'), name);
    names.add(name);
    const protocol = str(port, 'protocol');
    if (!PROTOCOLS.includes(protocol)) errors.notSupported(at.child('protocol'), protocol, PROTOCOLS);
    if (has(port, 'appProtocol')) qualifiedName(str(port, 'appProtocol'), at.child('appProtocol'), errors);
  });
}

export function validateEndpointSliceUpdate(object: Draft, old: Draft, errors: FieldErrors): void {
  validateEndpointSlice(object, errors);
  validateImmutable(get(object, 'addressType'), get(old, 'addressType'), errors, path('addressType'));
}
