// What is likely a mistake in a service: told, not refused.
// Upstream: kubernetes@v1.30.3:pkg/api/service/warnings.go
// Differs: only what Go's parser says of addresses in the forms people write is told in its words.
import { isIPv6 } from 'node:net';
import { goQuote } from '@kube-rx/apimachinery';
import { type Draft, dict, get, has, str, strings } from '../draft.ts';
import { metadata } from '../validation/object-meta.ts';

const HINTS = 'service.kubernetes.io/topology-aware-hints';
const MODE = 'service.kubernetes.io/topology-mode';

/** Why Go's netip does not take an address, undefined when it does. */
function addressProblem(text: string): string | undefined {
  const parsing = `ParseAddr(${goQuote(text)})`;
  if (isIPv6(text)) return undefined;
  if (!text.includes('.')) return `${parsing}: unable to parse IP`;
  const parts = text.split('.');
  if (parts.some((part) => /^0\d/.test(part))) return `${parsing}: IPv4 field has octet with leading zero`;
  const bad = /[^\d.]/.exec(text);
  if (bad !== null) return `${parsing}: unexpected character (at ${goQuote(text.slice(bad.index))})`;
  if (parts.some((part) => Number(part) > 255)) return `${parsing}: IPv4 field has value >255`;
  return parts.length < 4 ? `${parsing}: IPv4 address too short` : undefined;
}

/** RFC 5952. */
const canonical = (text: string): string => new URL(`http://[${text}]`).hostname.slice(1, -1);

function ofAddress(at: string, text: string): readonly string[] {
  const problem = addressProblem(text);
  if (problem !== undefined)
    return [`${at}: IP address was accepted, but will be invalid in a future Kubernetes release: ${problem}`];
  if (!isIPv6(text) || /\d\.\d/.test(text) || canonical(text) === text) return [];
  const shown = `(${goQuote(canonical(text))})`;
  return [
    `${at}: IPv6 address ${goQuote(text)} is not in RFC 5952 canonical format ${shown}, which may cause controller apply-loops`,
  ];
}

export function serviceWarnings(object: Draft): readonly string[] {
  const spec = dict(object, 'spec');
  const out: string[] = [];
  if (has(dict(metadata(object), 'annotations'), HINTS))
    out.push(`annotation ${HINTS} is deprecated, please use ${MODE} instead`);
  const own = str(spec, 'clusterIP');
  const type = str(spec, 'type');
  if (own !== '' && own !== 'None' && type !== 'ExternalName') {
    strings(spec, 'clusterIPs').forEach((ip, index) => {
      out.push(...ofAddress(`spec.clusterIPs[${index}]`, ip));
    });
  }
  strings(spec, 'externalIPs').forEach((ip, index) => {
    out.push(...ofAddress(`spec.externalIPs[${index}]`, ip));
  });
  const balancer = str(spec, 'loadBalancerIP');
  if (balancer !== '') out.push(...ofAddress('spec.loadBalancerIP', balancer));
  if (type === 'ExternalName' && strings(spec, 'externalIPs').length > 0)
    out.push('spec.externalIPs is ignored when spec.type is "ExternalName"');
  if (type !== 'ExternalName' && get(spec, 'externalName') !== undefined)
    out.push('spec.externalName is ignored when spec.type is not "ExternalName"');
  return out;
}
