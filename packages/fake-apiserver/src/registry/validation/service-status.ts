// What a balancer may say of a service.
// Upstream: kubernetes@v1.30.3:pkg/apis/core/validation/validation.go#ValidateLoadBalancerStatus
import { isDNS1123Subdomain } from '@kube-rx/apimachinery';
import { type Draft, dict, dicts, has, str } from '../draft.ts';
import { type FieldErrors, path } from './field-errors.ts';
import { ipFamily, validateIp } from './ip.ts';

const IP_MODES = ['Proxy', 'VIP'];

export function validateServiceStatus(object: Draft, _old: Draft, errors: FieldErrors): void {
  const ingress = dicts(dict(object, 'status', 'loadBalancer'), 'ingress');
  const at = path('status', 'loadBalancer', 'ingress');
  if (ingress.length > 0 && str(dict(object, 'spec'), 'type') !== 'LoadBalancer') {
    errors.forbidden(at, "may only be used when `spec.type` is 'LoadBalancer'");
    return;
  }
  ingress.forEach((point, index) => {
    const here = at.index(index);
    const [ip, hostname] = [str(point, 'ip'), str(point, 'hostname')];
    if (ip !== '') validateIp(ip, here.child('ip'), errors);
    if (!has(point, 'ipMode')) {
      if (ip !== '') errors.required(here.child('ipMode'), 'must be specified when `ip` is set');
    } else if (ip === '') errors.forbidden(here.child('ipMode'), 'may not be specified when `ip` is not set');
    else if (!IP_MODES.includes(str(point, 'ipMode')))
      errors.notSupported(here.child('ipMode'), str(point, 'ipMode'), IP_MODES);
    if (hostname === '') return;
    for (const detail of isDNS1123Subdomain(hostname)) errors.invalid(here.child('hostname'), hostname, detail);
    if (ipFamily(hostname) !== undefined)
      errors.invalid(here.child('hostname'), hostname, 'must be a DNS name, not an IP address');
  });
}
