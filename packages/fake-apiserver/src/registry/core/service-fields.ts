// Fields of a service that belong together: what an update means when a client names only some of them.
// Upstream: kubernetes@v1.30.3:pkg/registry/core/service/{strategy.go,storage/storage.go}

import { isExternallyAccessible } from '../defaults/core.ts';
import { assign, type Draft, dict, dicts, ensure, get, has, num, put, semanticEqual, str, strings } from '../draft.ts';

export const specOf = (service: Draft): Draft => dict(service, 'spec') ?? {};
export const isHeadless = (spec: Draft): boolean => {
  const ips = strings(spec, 'clusterIPs');
  return ips.length === 1 && ips[0] === 'None';
};
export const needsClusterIp = (spec: Draft): boolean =>
  ['ClusterIP', 'NodePort', 'LoadBalancer'].includes(str(spec, 'type'));
export const needsNodePort = (spec: Draft): boolean => ['NodePort', 'LoadBalancer'].includes(str(spec, 'type'));
export const needsHealthCheckPort = (spec: Draft): boolean =>
  str(spec, 'type') === 'LoadBalancer' && str(spec, 'externalTrafficPolicy') === 'Local';

export const same = (spec: Draft, old: Draft, field: string): boolean =>
  semanticEqual(get(spec, field), get(old, field));

export const nodePorts = (spec: Draft): readonly number[] =>
  dicts(spec, 'ports')
    .map((port) => num(port, 'nodePort') ?? 0)
    .filter((port) => port !== 0);

/** Wipes what a changed type no longer needs, unless the client changed it as well. */
export function dropTypeDependentFields(service: Draft, oldService: Draft): void {
  const [spec, old] = [specOf(service), specOf(oldService)];
  if (needsClusterIp(old) && !needsClusterIp(spec)) {
    if (same(spec, old, 'clusterIP') && same(spec, old, 'clusterIPs')) {
      delete spec['clusterIP'];
      delete spec['clusterIPs'];
    }
    for (const field of ['ipFamilies', 'ipFamilyPolicy']) if (same(spec, old, field)) delete spec[field];
  }
  const had = new Set(nodePorts(old));
  if (needsNodePort(old) && !needsNodePort(spec) && nodePorts(spec).every((port) => had.has(port))) {
    for (const port of dicts(spec, 'ports')) delete port['nodePort'];
  }
  if (needsHealthCheckPort(old) && !needsHealthCheckPort(spec) && same(spec, old, 'healthCheckNodePort'))
    delete spec['healthCheckNodePort'];
  if (str(old, 'type') === 'LoadBalancer' && str(spec, 'type') !== 'LoadBalancer') {
    for (const field of ['allocateLoadBalancerNodePorts', 'loadBalancerClass'])
      if (same(spec, old, field)) delete spec[field];
  }
  const wasExternal = isExternallyAccessible(oldService);
  if (wasExternal && !isExternallyAccessible(service) && same(spec, old, 'externalTrafficPolicy'))
    delete spec['externalTrafficPolicy'];
  if (str(spec, 'type') !== 'LoadBalancer') put(ensure(service, 'status'), 'loadBalancer', {});
}

/** Fills in allocated values a client left out, so that an update without them changes nothing. */
export function patchAllocatedValues(service: Draft, oldService: Draft): void {
  const [spec, old] = [specOf(service), specOf(oldService)];
  if (needsClusterIp(old) && needsClusterIp(spec)) {
    if (str(spec, 'clusterIP') === '') assign(spec, 'clusterIP', get(old, 'clusterIP'));
    if (strings(spec, 'clusterIPs').length === 0 && has(old, 'clusterIPs'))
      put(spec, 'clusterIPs', [...strings(old, 'clusterIPs')]);
  }
  if (needsNodePort(old) && needsNodePort(spec)) {
    const now = nodePorts(spec);
    const used = new Set(nodePorts(old).filter((port) => now.includes(port)));
    const byName = new Map(dicts(old, 'ports').map((port) => [str(port, 'name'), num(port, 'nodePort') ?? 0]));
    for (const port of dicts(spec, 'ports')) {
      if ((num(port, 'nodePort') ?? 0) !== 0) continue;
      const before = byName.get(str(port, 'name')) ?? 0;
      if (before !== 0 && !used.has(before)) put(port, 'nodePort', before);
    }
  }
  if (needsHealthCheckPort(old) && needsHealthCheckPort(spec) && (num(spec, 'healthCheckNodePort') ?? 0) === 0)
    assign(spec, 'healthCheckNodePort', get(old, 'healthCheckNodePort'));
}

/** Keeps `clusterIP` and `clusterIPs` in step for clients that know only one of them. */
export function normalizeClusterIps(service: Draft, oldService: Draft | undefined): void {
  const spec = specOf(service);
  const ip = str(spec, 'clusterIP');
  const ips = strings(spec, 'clusterIPs');
  if (oldService === undefined) {
    if (ip !== '' && ips.length === 0) put(spec, 'clusterIPs', [ip]);
    return;
  }
  const old = specOf(oldService);
  const oldIp = str(old, 'clusterIP');
  const oldIps = strings(old, 'clusterIPs');
  if (oldIps.length > 0 && ips.length === 0 && oldIp === ip) put(spec, 'clusterIPs', [...oldIps]);
  if (oldIp === ip || !same(spec, old, 'clusterIPs')) return;
  if (oldIp !== '' && ip === '') delete spec['clusterIPs'];
  else put(spec, 'clusterIPs', [ip]);
}
