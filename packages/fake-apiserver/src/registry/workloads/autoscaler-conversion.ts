// autoscaling/v1 knows one metric, CPU, and keeps what it cannot say in annotations.
// Upstream: kubernetes@v1.30.3:pkg/apis/autoscaling/v1/conversion.go
import { goJsonStringify } from '@kube-rx/apimachinery';
import type { Conversion } from '../conversion.ts';
import { type Draft, dict, dicts, ensure, get, num, put, str } from '../draft.ts';
import { metadata } from '../validation/object-meta.ts';
import { metricFromV1, metricToV1, statusFromV1, statusToV1 } from './autoscaler-metrics.ts';

const METRICS = 'autoscaling.alpha.kubernetes.io/metrics';
const BEHAVIOR = 'autoscaling.alpha.kubernetes.io/behavior';
const CURRENT = 'autoscaling.alpha.kubernetes.io/current-metrics';
const CONDITIONS = 'autoscaling.alpha.kubernetes.io/conditions';

const isCpu = (metric: Draft): boolean =>
  str(metric, 'type') === 'Resource' && str(dict(metric, 'resource'), 'name') === 'cpu';

function readList(text: unknown): readonly Draft[] {
  if (typeof text !== 'string') return [];
  try {
    const value: unknown = JSON.parse(text);
    return dicts({ value }, 'value');
  } catch {
    return [];
  }
}

function readObject(text: unknown): Draft | undefined {
  if (typeof text !== 'string') return undefined;
  try {
    const value: unknown = JSON.parse(text);
    return dict({ value }, 'value');
  } catch {
    return undefined;
  }
}

function takeAnnotation(object: Draft, key: string): unknown {
  const annotations = dict(metadata(object), 'annotations');
  const value = get(annotations, key);
  if (annotations !== undefined && value !== undefined) {
    delete annotations[key];
    if (Object.keys(annotations).length === 0) delete metadata(object)['annotations'];
  }
  return value;
}

function toStorage(object: Draft): Draft {
  object['apiVersion'] = 'autoscaling/v2';
  const spec = ensure(object, 'spec');
  const metrics = readList(takeAnnotation(object, METRICS)).map(metricFromV1);
  const behavior = readObject(takeAnnotation(object, BEHAVIOR));
  if (behavior !== undefined) put(spec, 'behavior', behavior);
  const percent = num(spec, 'targetCPUUtilizationPercentage');
  if (percent !== undefined) {
    metrics.push({
      type: 'Resource',
      resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: percent } },
    });
  } else if (metrics.length === 0) {
    metrics.push({
      type: 'Resource',
      resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: 80 } },
    });
  }
  delete spec['targetCPUUtilizationPercentage'];
  put(spec, 'metrics', metrics);
  const status = ensure(object, 'status');
  const current = readList(takeAnnotation(object, CURRENT)).map(statusFromV1);
  const used = num(status, 'currentCPUUtilizationPercentage');
  if (used !== undefined && current.length === 0)
    current.push({ type: 'Resource', resource: { name: 'cpu', current: { averageUtilization: used } } });
  delete status['currentCPUUtilizationPercentage'];
  if (current.length > 0) put(status, 'currentMetrics', current);
  const conditions = readList(takeAnnotation(object, CONDITIONS));
  if (conditions.length > 0) put(status, 'conditions', conditions);
  return object;
}

function fromStorage(object: Draft): Draft {
  object['apiVersion'] = 'autoscaling/v1';
  const spec = ensure(object, 'spec');
  const kept: Draft = {};
  const metrics = dicts(spec, 'metrics');
  const cpu = metrics.find(
    (metric) => isCpu(metric) && num(dict(metric, 'resource', 'target'), 'averageUtilization') !== undefined,
  );
  if (cpu !== undefined)
    put(spec, 'targetCPUUtilizationPercentage', num(dict(cpu, 'resource', 'target'), 'averageUtilization'));
  const others = metrics.filter(
    (metric) => !isCpu(metric) || num(dict(metric, 'resource', 'target'), 'averageUtilization') === undefined,
  );
  if (others.length > 0) put(kept, METRICS, goJsonStringify(others.map(metricToV1)));
  const behavior = dict(spec, 'behavior');
  if (behavior !== undefined) put(kept, BEHAVIOR, goJsonStringify(behavior));
  delete spec['metrics'];
  delete spec['behavior'];
  const status = ensure(object, 'status');
  const current = dicts(status, 'currentMetrics');
  const cpuNow = current.find(
    (metric) => isCpu(metric) && num(dict(metric, 'resource', 'current'), 'averageUtilization') !== undefined,
  );
  if (cpuNow !== undefined)
    put(status, 'currentCPUUtilizationPercentage', num(dict(cpuNow, 'resource', 'current'), 'averageUtilization'));
  if (current.length > 0) put(kept, CURRENT, goJsonStringify(current.map(statusToV1)));
  const conditions = dicts(status, 'conditions');
  if (conditions.length > 0) put(kept, CONDITIONS, goJsonStringify(conditions));
  delete status['currentMetrics'];
  delete status['conditions'];
  if (Object.keys(kept).length > 0) Object.assign(ensure(metadata(object), 'annotations'), kept);
  return object;
}

export const autoscalerConversion: Conversion = { toStorage, fromStorage };
