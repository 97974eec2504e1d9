// LimitRanger: fills in container resources and holds pods and claims to the limits of their namespace.
// Upstream: kubernetes@v1.30.3:plugin/pkg/admission/limitranger/admission.go
// Differs: problems are listed by resource name; upstream has no order among them.
import { newForbidden, type Quantity } from '@kube-rx/apimachinery';
import { byCodePoint, type Draft, dict, dicts, ensure, has, put, str } from '../registry/draft.ts';
import { metadata } from '../registry/validation/object-meta.ts';
import { quantity } from '../registry/validation/values.ts';
import type { ApiObject } from '../storage/api-object.ts';
import type { AdmissionAttributes, AdmissionPlugin } from './admission.ts';

/** The limit ranges of a namespace. */
export type LimitRanges = (namespace: string, signal: AbortSignal) => Promise<readonly ApiObject[]>;

type Quantities = ReadonlyMap<string, Quantity>;

const NONE: Quantities = new Map();

function quantities(parent: Draft | undefined, ...path: string[]): Quantities {
  const map = dict(parent, ...path) ?? {};
  const names = Object.keys(map).sort(byCodePoint);
  return new Map(
    names.flatMap((name) => {
      const value = quantity(map[name]);
      return value === undefined ? [] : [[name, value] as const];
    }),
  );
}

interface Used {
  readonly requests: Quantities;
  readonly limits: Quantities;
}

type Check = (type: string, name: string, bound: Quantity, used: Used) => string | undefined;

const atLeast: Check = (type, name, bound, { requests, limits }) => {
  const [request, limit] = [requests.get(name), limits.get(name)];
  const text = `minimum ${name} usage per ${type} is ${bound}`;
  if (request === undefined) return `${text}.  No request is specified`;
  if (request.compare(bound) < 0) return `${text}, but request is ${request}`;
  return limit !== undefined && limit.compare(bound) < 0 ? `${text}, but limit is ${limit}` : undefined;
};

const atMost: Check = (type, name, bound, { requests, limits }) => {
  const [request, limit] = [requests.get(name), limits.get(name)];
  const text = `maximum ${name} usage per ${type} is ${bound}`;
  if (limit === undefined) return `${text}.  No limit is specified`;
  if (limit.compare(bound) > 0) return `${text}, but limit is ${limit}`;
  return request !== undefined && request.compare(bound) > 0 ? `${text}, but request is ${request}` : undefined;
};

const requestAtMost: Check = (type, name, bound, { requests }) => {
  const request = requests.get(name);
  const text = `maximum ${name} usage per ${type} is ${bound}`;
  if (request === undefined) return `${text}.  No request is specified`;
  return request.compare(bound) > 0 ? `${text}, but request is ${request}` : undefined;
};

const inRatio: Check = (type, name, bound, { requests, limits }) => {
  const [request, limit] = [requests.get(name), limits.get(name)];
  const text = `${name} max limit to request ratio per ${type} is ${bound}`;
  if (request === undefined || request.sign === 0) return `${text}, but no request is specified or request is 0`;
  if (limit === undefined || limit.sign === 0) return `${text}, but no limit is specified or limit is 0`;
  const ratio = limit.toNumber() / request.toNumber();
  return ratio > bound.toNumber() ? `${text}, but provided ratio is ${ratio.toFixed(6)}` : undefined;
};

const CHECKS: readonly (readonly [field: string, check: Check])[] = [
  ['min', atLeast],
  ['max', atMost],
  ['maxLimitRequestRatio', inRatio],
];
const CLAIM_CHECKS: readonly (readonly [field: string, check: Check])[] = [
  ['min', atLeast],
  ['max', requestAtMost],
];

function problemsOf(limit: Draft, used: Used, checks = CHECKS): readonly string[] {
  return checks.flatMap(([field, check]) =>
    [...quantities(limit, field)].flatMap(([name, bound]) => check(str(limit, 'type'), name, bound, used) ?? []),
  );
}

const usedBy = (container: Draft): Used => ({
  requests: quantities(container, 'resources', 'requests'),
  limits: quantities(container, 'resources', 'limits'),
});

function sum(all: readonly Quantities[]): Quantities {
  const out = new Map<string, Quantity>();
  for (const one of all) for (const [name, value] of one) out.set(name, out.get(name)?.add(value) ?? value);
  return out;
}

function larger(a: Quantities, b: Quantities): Quantities {
  const out = new Map(a);
  for (const [name, value] of b) if ((out.get(name)?.compare(value) ?? -1) < 0) out.set(name, value);
  return out;
}

/** Containers run together, init containers one after the other beside the sidecars started before them. */
function podUse(spec: Draft | undefined, field: 'requests' | 'limits'): Quantities {
  const own = (container: Draft): Quantities => quantities(container, 'resources', field);
  let sidecars: Quantities = NONE;
  let peak: Quantities = NONE;
  for (const container of dicts(spec, 'initContainers')) {
    const together = sum([sidecars, own(container)]);
    if (str(container, 'restartPolicy') === 'Always') sidecars = together;
    peak = larger(peak, together);
  }
  return larger(sum([...dicts(spec, 'containers').map(own), sidecars]), peak);
}

function podProblems(limits: readonly Draft[], pod: Draft): readonly string[] {
  const spec = dict(pod, 'spec');
  const containers = [...dicts(spec, 'containers'), ...dicts(spec, 'initContainers')];
  return limits.flatMap((limit) => {
    switch (str(limit, 'type')) {
      case 'Container':
        return containers.flatMap((container) => problemsOf(limit, usedBy(container)));
      case 'Pod':
        return problemsOf(limit, { requests: podUse(spec, 'requests'), limits: podUse(spec, 'limits') });
      default:
        return [];
    }
  });
}

function claimProblems(limits: readonly Draft[], claim: Draft): readonly string[] {
  const used = { requests: quantities(claim, 'spec', 'resources', 'requests'), limits: NONE };
  return limits
    .filter((limit) => str(limit, 'type') === 'PersistentVolumeClaim')
    .flatMap((limit) => problemsOf(limit, used, CLAIM_CHECKS));
}

/** Names of the resources that were filled in. */
function fill(container: Draft, field: 'requests' | 'limits', defaults: Quantities): readonly string[] {
  const missing = [...defaults].filter(([name]) => !has(dict(container, 'resources', field), name));
  for (const [name, value] of missing) put(ensure(container, 'resources', field), name, value.toString());
  return missing.map(([name]) => name);
}

function fillPod(limits: readonly Draft[], pod: Draft): void {
  const container = limits.filter((limit) => str(limit, 'type') === 'Container');
  const merged = (field: string): Quantities => new Map(container.flatMap((limit) => [...quantities(limit, field)]));
  const [requests, upper] = [merged('defaultRequest'), merged('default')];
  if (requests.size === 0 && upper.size === 0) return;
  const notes: string[] = [];
  for (const [field, title] of [['containers', 'container'] as const, ['initContainers', 'init container'] as const]) {
    for (const one of dicts(dict(pod, 'spec'), field)) {
      const name = str(one, 'name');
      const setLimits = fill(one, 'limits', upper);
      const setRequests = fill(one, 'requests', requests);
      if (setRequests.length > 0) notes.push(`${setRequests.join(', ')} request for ${title} ${name}`);
      if (setLimits.length > 0) notes.push(`${setLimits.join(', ')} limit for ${title} ${name}`);
    }
  }
  if (notes.length === 0) return;
  put(
    ensure(metadata(pod), 'annotations'),
    'kubernetes.io/limit-ranger',
    `LimitRanger plugin set: ${notes.join('; ')}`,
  );
}

export class LimitRanger implements AdmissionPlugin {
  readonly name = 'LimitRanger';
  readonly #ranges: LimitRanges;

  constructor(ranges: LimitRanges) {
    this.#ranges = ranges;
  }

  async admit(attributes: AdmissionAttributes): Promise<void> {
    for (const limits of await this.#limits(attributes)) {
      if (attributes.resource.resource === 'pods') fillPod(limits, attributes.object!);
    }
  }

  async validate(attributes: AdmissionAttributes): Promise<void> {
    for (const limits of await this.#limits(attributes)) {
      const problems =
        attributes.resource.resource === 'pods'
          ? podProblems(limits, attributes.object!)
          : claimProblems(limits, attributes.object!);
      if (problems.length === 0) continue;
      const texts = [...new Set(problems)];
      const why = texts.length === 1 ? texts[0]! : `[${texts.join(', ')}]`;
      throw newForbidden(attributes.resource, attributes.name || str(metadata(attributes.object!), 'name'), why);
    }
  }

  /** The limits of each range that has a say; none for what is not limited. */
  async #limits(attributes: AdmissionAttributes): Promise<readonly (readonly Draft[])[]> {
    const { resource, subresource, operation, object, old, namespace, request } = attributes;
    if (resource.group !== '' || subresource !== '' || object === undefined) return [];
    const limited =
      (resource.resource === 'pods' && operation === 'CREATE') ||
      (resource.resource === 'persistentvolumeclaims' && (operation === 'CREATE' || operation === 'UPDATE'));
    if (!limited || old?.metadata.deletionTimestamp !== undefined) return [];
    const ranges = await this.#ranges(namespace, request.signal);
    return ranges.map((range) => dicts(dict(range as unknown as Draft, 'spec'), 'limits'));
  }
}
