// Quality of service class of a pod.
// Upstream: kubernetes@v1.30.3:pkg/apis/core/helper/qos/qos.go#ComputePodQOS
import type { Quantity } from '@kube-rx/apimachinery';
import { type Draft, dict, dicts } from '../draft.ts';
import { quantities } from '../validation/values.ts';

export type QosClass = 'Guaranteed' | 'Burstable' | 'BestEffort';

const COMPUTE = ['cpu', 'memory'];

function sum(total: Map<string, Quantity>, resources: Draft | undefined, field: string): string[] {
  const named: string[] = [];
  for (const [name, value] of quantities(resources, field)) {
    if (!COMPUTE.includes(name) || value.sign <= 0) continue;
    named.push(name);
    const before = total.get(name);
    total.set(name, before === undefined ? value : before.add(value));
  }
  return named;
}

export function podQos(pod: Draft): QosClass {
  const spec = dict(pod, 'spec');
  const requests = new Map<string, Quantity>();
  const limits = new Map<string, Quantity>();
  let guaranteed = true;
  for (const container of [...dicts(spec, 'containers'), ...dicts(spec, 'initContainers')]) {
    const resources = dict(container, 'resources');
    sum(requests, resources, 'requests');
    const limited = sum(limits, resources, 'limits');
    if (!COMPUTE.every((name) => limited.includes(name))) guaranteed = false;
  }
  if (requests.size === 0 && limits.size === 0) return 'BestEffort';
  if (guaranteed && requests.size === limits.size) {
    const equal = [...requests].every(([name, value]) => limits.get(name)?.equals(value) === true);
    if (equal) return 'Guaranteed';
  }
  return 'Burstable';
}
