// Metrics as the annotations of autoscaling/v1 spell them: one flat object per source instead of metric and target.
// Upstream: k8s.io/api@v0.30.3:autoscaling/v1/types.go#MetricSpec, kubernetes@v1.30.3:pkg/apis/autoscaling/v1/conversion.go
import { type Draft, dict, get, put, str } from '../draft.ts';

/** Where a flat field has its value in v2; the order is that in which Go writes the fields. */
type Fields = readonly (readonly [v1: string, path: readonly string[], always?: string])[];

const SPEC: Readonly<Record<string, Fields>> = {
  object: [
    ['target', ['describedObject']],
    ['metricName', ['metric', 'name'], ''],
    ['targetValue', ['target', 'value'], '0'],
    ['selector', ['metric', 'selector']],
    ['averageValue', ['target', 'averageValue']],
  ],
  pods: [
    ['metricName', ['metric', 'name'], ''],
    ['targetAverageValue', ['target', 'averageValue'], '0'],
    ['selector', ['metric', 'selector']],
  ],
  resource: [
    ['name', ['name'], ''],
    ['targetAverageUtilization', ['target', 'averageUtilization']],
    ['targetAverageValue', ['target', 'averageValue']],
  ],
  containerResource: [
    ['name', ['name'], ''],
    ['targetAverageUtilization', ['target', 'averageUtilization']],
    ['targetAverageValue', ['target', 'averageValue']],
    ['container', ['container'], ''],
  ],
  external: [
    ['metricName', ['metric', 'name'], ''],
    ['metricSelector', ['metric', 'selector']],
    ['targetValue', ['target', 'value']],
    ['targetAverageValue', ['target', 'averageValue']],
  ],
};

const STATUS: Readonly<Record<string, Fields>> = {
  object: [
    ['target', ['describedObject']],
    ['metricName', ['metric', 'name'], ''],
    ['currentValue', ['current', 'value'], '0'],
    ['selector', ['metric', 'selector']],
    ['averageValue', ['current', 'averageValue']],
  ],
  pods: [
    ['metricName', ['metric', 'name'], ''],
    ['currentAverageValue', ['current', 'averageValue'], '0'],
    ['selector', ['metric', 'selector']],
  ],
  resource: [
    ['name', ['name'], ''],
    ['currentAverageUtilization', ['current', 'averageUtilization']],
    ['currentAverageValue', ['current', 'averageValue'], '0'],
  ],
  containerResource: [
    ['name', ['name'], ''],
    ['currentAverageUtilization', ['current', 'averageUtilization']],
    ['currentAverageValue', ['current', 'averageValue'], '0'],
    ['container', ['container'], ''],
  ],
  external: [
    ['metricName', ['metric', 'name'], ''],
    ['metricSelector', ['metric', 'selector']],
    ['currentValue', ['current', 'value'], '0'],
    ['currentAverageValue', ['current', 'averageValue']],
  ],
};

const kindsOf = (fields: Readonly<Record<string, Fields>>): readonly string[] => Object.keys(fields);

function toV1(metric: Draft, sources: Readonly<Record<string, Fields>>): Draft {
  const out: Draft = { type: str(metric, 'type') };
  for (const kind of kindsOf(sources)) {
    const source = dict(metric, kind);
    if (source === undefined) continue;
    const flat: Draft = {};
    for (const [name, path, always] of sources[kind]!) {
      const value = get(dict(source, ...path.slice(0, -1)), path.at(-1)!) ?? always;
      if (value !== undefined) put(flat, name, value);
    }
    put(out, kind, flat);
  }
  return out;
}

function fromV1(metric: Draft, sources: Readonly<Record<string, Fields>>, holder: 'target' | 'current'): Draft {
  const out: Draft = { type: str(metric, 'type') };
  for (const kind of kindsOf(sources)) {
    const flat = dict(metric, kind);
    if (flat === undefined) continue;
    const source: Draft = {};
    for (const [name, path] of sources[kind]!) {
      const value = get(flat, name);
      if (value === undefined) continue;
      if (path.length === 1) put(source, path[0]!, value);
      else put(source, path[0]!, { ...dict(source, path[0]!), [path[1]!]: value });
    }
    if (holder === 'target') put(source, 'target', targetOf(kind, dict(source, 'target') ?? {}));
    put(out, kind, source);
  }
  return out;
}

/** The type of a target is not spelled out in v1: the values that are there tell. */
function targetOf(kind: string, target: Draft): Draft {
  const has = (name: string): boolean => target[name] !== undefined;
  if (kind === 'object') return { type: has('averageValue') ? 'AverageValue' : 'Value', ...target };
  if (kind === 'external') return { type: has('value') ? 'Value' : 'AverageValue', ...target };
  return { type: has('averageUtilization') ? 'Utilization' : 'AverageValue', ...target };
}

export const metricToV1 = (metric: Draft): Draft => toV1(metric, SPEC);
export const metricFromV1 = (metric: Draft): Draft => fromV1(metric, SPEC, 'target');
export const statusToV1 = (metric: Draft): Draft => toV1(metric, STATUS);
export const statusFromV1 = (metric: Draft): Draft => fromV1(metric, STATUS, 'current');
